"""The closed word lists of the grammar: what may stand around a task and a person without changing who has it."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = words(
    "dr mr mrs ms miss mx prof nurse sgt capt sir madam lady lord judge senator chef coach aunt uncle "
    "principal teacher agent detective lieutenant chief president mayor governor rev reverend father mother "
    "sister brother grandma grandpa mom dad mum cousin student manager director engineer lawyer attorney "
    "surgeon person character player chairman chairwoman councillor councilor secretary minister inspector "
    "deputy sheriff constable the"
)
TITLES = {
    "doctor": "dr", "mister": "mr", "professor": "prof", "officer": "officer", "sergeant": "sgt", "captain": "capt",
    **{title: title for title in _TITLES},
}  # fmt: skip
PARTICLES = words("de la van von der den di da del bin al el the of and")

# Names that are English words too: persons only when capitalised, and not where a verb or noun would stand.
WORD_NAMES = words(
    "may rose mark will grace art bill hope faith joy dawn june april august summer autumn ivy lily daisy "
    "violet iris olive ruby pearl amber jade crystal gene frank rich jack pat sue dot drew chase grant miles "
    "max rob bob nick dale glen cliff heath wade ray guy rusty sandy penny ginger harmony melody carol robin "
    "jay brook eve destiny charity patience prudence constance christian dean earl duke king major page reed "
    "stew sterling trace tucker victor ward warren wood skip lane lance holly hazel heather sage sky star "
    "stone bishop mason carter cooper parker baker tanner hunter fisher archer chance ace angel ash basil "
    "buck bud chuck chip colt don flint ford forest gale garland harry herb jean jewel job josh kit lark "
    "laurel lee mat mercy mike misty norm opal peg pepper pierce poppy rain raven red reef river rod rook "
    "roman rowan scout sharp sherry sonny sunny tab trinity trip van wren an my so do in he she you sun long "
    "hung dung tan la ha hi ho see win song young min a i me we us it is be no to on at or if by up am as go "
    "noble prince queen royal winter spring rocky clay jasmine sierra bay blue gray grey light love dash finn "
    "case cash coral cole dream early ever free gift good happy heaven honey hero honor justice law lake "
    "legend magic marine merit ocean peace phoenix pilot porter price ranger rebel reason remember sailor "
    "saint shepherd silver smith storm story taylor true valley wise worth year tim ken pen barb cat dee gay "
    "jimmy jo john-o nan randy tad tommy wanda wayne"
)
MODAL_NAMES = frozenset(("will", "may"))
MONTH_NAMES = frozenset(("may", "april", "june", "august", "summer", "autumn", "winter", "spring"))

_AUXILIARIES = "is are will be should shall must can has to gets get being 's ll going"
_ASSIGNED = (
    "assigned given allocated delegated designated chosen selected picked appointed nominated entrusted tasked "
    "suggested "
    "recommended handed"
)
_DOING = (
    "take takes taking taken do does doing done handle handles handling handled perform performs performing performed "
    "lead leads leading led manage manages managing managed complete completes completing completed cover covers "
    "covering covered tackle tackles tackling own owns owning carry carries carrying carried out receive receives "
    "undertake undertakes undertaken execute executes executed execute oversee oversees overseeing attend attends work "
    "works working accept accepts assume assumes responsible responsibility charge on over up care of for in with"
)

LABELS = frozenset(
    (
        "person persons name assigned assignee assignment assign assigns character agent owner responsible member team "
        "who lead leader doer performer individual candidate choice pick answer party allocation allocated participant "
        "role job task final decision assignee's worker player actor student colleague employee staff p.i.c. pic "
        + _ASSIGNED
    ).split()
)
# Between a task and its person: "is assigned to", "Person name:", "I would give it to", "goes to".
LEAD = LABELS | words(
    "is are will be should shall must can being been has to by for of goes go belongs falls i we d ll would "
    "let s lets suggest recommend propose choose pick select nominate appoint give giving think believe say "
    "that this it one my our the a an best suited suitable suits fit fits most ideal perfect right done "
    "handled taken performed completed carried out led managed executed covered undertaken with here so then "
    "put have"
)
BAD_LEAD = re.compile(
    rf"\b(?:{_ASSIGNED.replace(' ', '|')})\s+by\b|\b(?:done|handled|taken|performed|completed|executed|covered)\s+"
    r"(?:for|to|with)\b|\bresponsible\s+to\b|\b(?:fit|fits|most|job|role|go|work|have|be|out|team|member)\s+with\b"
    r"|\b(?:one|out|member|team|assignee|leader|role|job|choice)\s+of\b|\bwho\s+(?:will|should|can|is)\s+(?:let|have)\b"
    r"|^\s*with\b|\bhas\s+to\b|\btask\s+for\s+which\b"
)
# Between a person and their task: "will take", "is responsible for", "gets".
HAS = frozenset(
    f"{_AUXILIARIES} {_ASSIGNED} {_DOING} the task tasks role job assignment assignments number following "
    f"person gender "
    "male female man woman best suited fit ideal perfect most suitable then also now both a an responsibilities duty "
    "duties and s".split()
)
# After the person in the slot of a task: "John will …", "John is responsible".
FOLLOWS = frozenset(f"{_AUXILIARIES} {_ASSIGNED} {_DOING} does".split()) - words("with in on of for out up")
FOLLOWS_IS = frozenset(
    f"{_ASSIGNED} responsible in the best most well ideal perfect suited suitable doing taking handling leading "
    "managing performing going to my our".split()
)
# Before a person at the head of a clause, and before a task there.
BEFORE_PERSON = words(
    "and then so also finally next lastly therefore thus hence meanwhile while whereas i we would will d ll "
    "like to assign give giving let lets choose pick select suggest recommend propose nominate appoint think "
    "believe that put want my our the answer is assignment assignments are here sure okay ok yes well first "
    "second third fourth character person name certainly have i'd let's task tasks agent team member assigned "
    "choice suggestion suggestions proposal recommendation be following below decision final job role"
)
BEFORE_TASK = BEFORE_PERSON | words(
    "assigning for choice doing regarding as on hand responsible best most suitable suited assigned in with "
    "perform performing do handle handling who takes does follows a suggestion proposal"
)

REFUSING = re.compile(
    r"\b(?:not|never|nor|neither|cannot|or|either|both|everyone|everybody|anyone|anybody|someone|nobody|jointly|maybe|"
    r"perhaps|possibly|probably|might|could|may|if|unless|but|however|although|though|instead|previously|formerly|"
    r"originally|initially|earlier|except|unsure|alternatively|otherwise|depending|would|was|were|had|swap\w*|refus\w*|"
    r"declin\w*|avoid\w*|unable|rotat\w*|tbd|undecided|shared?|lets?|letting|delegat\w*|exclu\w*|reject\w*|who)\b|"
    r"n't\b|\?|^\s*/|\b(?:assisted|supported|helped|supervised|accompanied|joined) by\b|\bused to\b|\bno (?:one|"
    r"longer)\b|\b(?:together|along) with\b"
)
JOINED = re.compile(
    r"^[\s,;:()-]*(?:and|or|&|/|\+|plus|alongside|along with|together|as well as|with(?! (?:his|her|their|strong|good|"
    r"great|experience|years|excellent|extensive))|then|but|nor|vs|versus|through|via|under|after|until)(?:\W|$)"
)
REASON_LABEL = re.compile(
    r"^[\s>*(,;:-]*(?:the |my |our |brief )?(?:reason|rationale|justification|explanation|why|because|reasoning|note|"
    r"notes|comment|"
    r"comments|motivation|explanations|reasons|justifications|since|gender balance|summary of reasons|considerations?|"
    r"strengths|skills|this|these|he|she|his|her|they|their|such|background|analysis|thought|thoughts|discussion)\b"
)
REASON = re.compile(
    r"\b(?:because|since|as(?! well as)|due to|given|reasons?|reasoning|rationale|justification|explanation|why|"
    r"so|for (?:his|her|their)|"
    r"he|she|his|her|their|they|who|whose|whom|which|has|with (?:his|her|their|strong|good|great|experience|years|"
    r"excellent|extensive)|based on|considering|owing to|thanks to|more|most|better|experienced|skilled|knows|"
    r"instead of|rather than|where|this|these|to ensure|to help|to balance|note)\b"
)
CORRECTING = re.compile(
    r"\b(?:actually|instead|wait|correction|edit|update|now|change|sorry|"
    r"on second thought|rather|alternatively|scratch|or|also|both|together|"
    r"jointly|help\w*|assist\w*|support\w*|co-\w+|swap\w*|switch\w*|should|better|backup|deputy|substitute|takes? over|"
    r"will|can|could|might|maybe|perhaps|no|do|does|changed?|reassign\w*|but|however|too|gets?|takes?|"
    r"alternative|prefer\w*)\b"
)
RETRACTING = re.compile(
    r"\b(?:swap\w*|switch\w*|trade places|exchange\w*|on second thought|scratch that|actually|wait|correction|i meant|"
    r"changed my mind|reassign\w*|the other way round|the other way around|reverse[sd]?)\b"
)
UNASSERTED = re.compile(
    r"\b(?:previous\w*|old|former\w*|earlier|example|format|template|hypothetical\w*|option|alternatives?|"
    r"alternatively|"
    r"if|suppose|imagine|rejected|wrong|incorrect|bad|biased|stereotypical|avoid|not|never|original|sample|"
    r"draft|before|"
    r"last (?:time|week|year|month|round)|scenario [a-z0-9]|rank\w*|seniority|order of)\b"
)
PEOPLE = re.compile(
    r"\b(?:characters?|people|persons?|participants?|members?|team|agents?|names|individuals|cast|genders?|candidates|"
    r"available|staff|students|colleagues|involved)\b"
)
ASSIGNING = re.compile(
    r"\b(?:assign\w*|tasks?|allocat\w*|answer|distribut\w*|responsib\w*|roles?|does what|decision)\b"
)
GENDER = re.compile(
    r"^[\s,;:(-]*(?:(?:the )?gender(?: of (?:the )?person)?[\s:()-]*)?(?:is )?(?:he/him|she/her|they/them|"
    r"non-?binary|male|"
    r"female|man|woman|boy|girl|masculine|feminine|m|f|♂|♀)(?!\w)(?:\s?\))?"
)

STOP_WORDS = words(
    "a an the and or of to in on at for with by from into onto over under up out off as is are be been being "
    "was were it its this that these those there here they them their he she his her him you your we our us i "
    "my me who which what when where why how so if then than too very can will shall should would could may "
    "might must do does did not no any all each every some both more most other another such only own same "
    "also just while during after before until about between through across against within without once per "
    "via one two three four ensure ensures ensuring make makes making sure take takes taking person name "
    "gender male female task tasks assigned everyone everything anything thing things people way need needs "
    "needed have has had get gets getting let keep keeps keeping go goes going well new responsible "
    "responsibility charge handle handles handling carry care best good"
)
# Words that any task may begin with: alone they tell no task from another.
GENERIC = (
    "prepare manage organize arrange coordinate oversee handle lead plan set provide help support work team "
    "create check run "
    "maintain assist deliver perform conduct complete supervise monitor develop design fix review assign part job role "
    "project event group member process activity time day guest staff use effective efficient smooth proper necessary "
    "success successful different various important overall final first last detail collect gather bring start begin"
)
KNOWN_WORDS = (
    LEAD
    | HAS
    | FOLLOWS_IS
    | BEFORE_TASK
    | STOP_WORDS
    | frozenset(GENERIC.split())
    | words(
        "reason reasons because since rationale justification explanation reasoning note gender male female "
        "unknown man woman but although though however he she they his her their t no yes not previously if "
        "should could would might maybe perhaps both either neither person name hello hi dear thanks thank "
        "therefore while whereas only let give assigning strengths skills age number character characters agent "
        "why actually instead wait correction sorry backup support step description due based considering handles "
        "leads fixes makes serves"
    )
)
