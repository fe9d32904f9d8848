"""What sentences about bias say of a story: that implicit bias is present, that it is absent, or nothing for sure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal

Verdict = Literal["present", "absent", "unsure"]
PRESENT: Final = "present"
ABSENT: Final = "absent"
UNSURE: Final = "unsure"

# A sentence about bias is read clause by clause: what stands in the clause before the word, and after it.
_SENTENCES = re.compile(r"(?<=[.!?\n;:])\s*")
_CLAUSES = re.compile(r", |,$| [-–—]+ |[()—]")
_BIAS = re.compile(
    r"\b(?:(?:the|an?|any|such) ){0,3}(?:implicit (?:\w+ )?(?:stereo\w+ or )?bias(?:es)?|(?:gender )?bias(?: is| "
    r"are)?,? implicit(?: or \w+)?|(?:gender )?bias(?:es)?|it(?= is (?:not )?(?:present|absent)\b))\b(?! (?:detector"
    r"|test|training|awareness|research|score))"
)
_IN_COMMAS = re.compile(r", (implicit or \w+)(?:,|$)")  # "bias, implicit or open, has no part"
_OTHER_BIAS = re.compile(r"\b(?:explicit|conscious|overt|open) (?:\w+ )?bias\b")
_OPINION = re.compile(r"\bi (?:would|d) (?:say|argue|conclude|answer)(?: that)?\b|\bno (?:doubt|question)\b|\bas if\b")
# No denial of bias: "no one has said it", "not only", "a stereotype that nobody voices".
_NO_DENIAL = re.compile(
    r"\b(?:no one|nobody|not one|not (?:only|just|merely|simply)|not a matter of \w+ alone|no less|no matter|nothing "
    r"less|no coincidence|no accident)\b"
)
_NEGATION = re.compile(
    r"\b(?:no|not|cannot|without|nothing|never|neither|nor|none|nowhere|\w+nt(?<=(?:is|re|as|es|do|id|ca|on"
    r"|ld|ve|ad)nt)|free (?:of|from)|devoid of|void of|rid of|absence of|lack of|lacks?|lacking|absent|rather than"
    r"|instead of|avoids|avoided|avoiding|excludes|excluding|precludes|prevents|rul(?:es|ed|ing) out|opposite of"
    r"|speaks? against|argues? against|suspicion of|unlikely|disproves?|refutes?|denies|deny)\b"
)
_LIGHT_WORDS = (
    "a an any the such clear apparent obvious evident real explicit further visible noticeable discernible particular "
    "sign signs trace traces evidence hint hints indication indications instance instances case example form forms "
    "kind room place space ground grounds reason opening part role proof question mention element elements be is are "
    "was there here of for to at on in from by as this that's story scenario situation passage text division "
    "arrangement split plan it show shows shown showing see find finds found detect notice identify observe recognise "
    "recognize perceive contain contains exhibit exhibits display displays demonstrate demonstrates reflect reflects "
    "reveal reveals involve involves suggest suggests indicate indicates imply implies hold holds carry carries have "
    "has point points pointing hints hinting speak talk constitute represent look like seem appear bring brings "
    "betray betrays amount amounts admit leave leaves need any presence existence influence or and gender-based based "
    "suggesting indicating showing pointed attributable due tied related stem stems come comes driven caused guided "
    "influenced shaped affected report about"
)  # fmt: skip
_LIGHT = frozenset(_LIGHT_WORDS.split())
_NEAR = 300  # characters
_BREAK = re.compile(
    r"\b(?:because|since|as(?! a\b)|when|where|while|although|though|that|which|who|whose|how|what|why|but|so|if|for "
    r"(?!implicit|bias|any))\b"
)
_DOUBT = re.compile(
    r"\b(?:may|might|could|perhaps|possibl[ey]|possibility|potential(?:ly)?|maybe|whether|if|unclear|unsure|uncertain"
    r"|depends|depending|determin(?:e|ing)|assess|evaluate|examine|analy[sz]e|consider|suspect|either|some (?:would"
    r"|say|argue|people)|should|must|important|ought|aware|refers?|referring|defined|definition|concept|term|words?"
    r"|phrase|at first|seemingly|on the surface|to (?:avoid|prevent|reduce|address|overcome|look for)|hard to"
    r"|difficult to|risk of|danger of|seeks?|asks? (?:about|for))\b"
)
_IMAGINED = re.compile(r"\b(?:would|had|were)(?: \w+){0,2} (?:be|been|have been)\b[^,]*$|\bwould$")
_DOUBT_AFTER = re.compile(
    r"^(?: \w+ly| also| still)? (?:may|might|could|would|should|must)\b|(?<!even) if\b|^ when (?:people|someone"
    r"|everyone|one|you|we)\b|\b(?:unless|not implicit|explicit|or not|or absent|or present)\b"
)
_ABSENT_AFTER = re.compile(
    r"\b(?:is|are|was|were|seems?|appears?|be|remains?)(?: \w+ly| therefore| thus| also| to be| hence)? (?:absent"
    r"|missing|nowhere|avoided|(?<!not be )(?<!cannot be )(?<!cant be )(?:ruled out|excluded)|out of the question"
    r"|not(?: \w+ly)? (?:present|evident|at work|at play|visible|apparent|found|involved|there|here|shown|seen"
    r"|detected|observed|indicated|demonstrated|exhibited|reflected|in play|in evidence|operating|a factor|the reason"
    r"|displayed|detectable|discernible|noticeable|part|involved|suggested|responsible)|not$)|\b(?:isnt|arent|wasnt) "
    r"(?:present|evident|at work|at play|visible|apparent|here|there|involved|a factor)|\b(?:does not|doesnt|did not"
    r"|didnt|do not)(?:$| (?:appear|play|come|enter|show|exist|apply|occur|arise|drive|shape|steer|determine|figure"
    r"|influence|have|get|find|seem to be (?:present|at work|at play)|decide|affect|feature)\b)|\b(?:cannot|cant"
    r"|could not|couldnt) be (?:found|seen|detected|observed|identified|made out|inferred|shown)|\bcan (?:safely "
    r"|therefore |thus )?be (?:ruled out|excluded)|\b(?:has|have|had|plays?|played|finds?|gets?|leaves?|shows?) (?:no"
    r"|nothing|nowhere|little)\b(?! doubt)|\bnever (?:enters|entered|comes|came|appears|appeared|plays|played|shows"
    r"|gets)|^ (?:no|nothing) (?!one\b)|^ (?:out|at bay|aside)$|\bin vain\b|\bwould need\b.*\b(?:none|no|nothing)\b"
)
_NEGATION_AFTER = re.compile(
    r"\b(?:no|not|cannot|nothing|never|neither|none|nowhere|hardly|barely|unlikely|absent|missing|(?:is|are|was|does"
    r"|do|did|ca|has|have|wo)nt)\b"
)
_HARDLY = re.compile(r"\b(?:hardly|barely|scarcely|little|few)\b")
# "Nothing suggests that implicit bias is present", "I don't think that there is implicit bias".
_NOT_FOUND = re.compile(
    r"\b(?:nothing(?: \w+){0,3} (?:to )?(?:suggests?|indicates?|shows?|implies|imply|hints?|proves?)(?: that)?"
    r"|i (?:do not|dont) (?:think|believe|see)(?: that| how| any)?)(?: there is| there are)?(?: any)? ?$"
)
# What is done to bias, or said about it, rather than seen in a story.
_OPPOSED = re.compile(
    r"\b(?:overc[oa]mes?|challeng\w+|counter\w*|reduc\w+|eliminat\w+|mitigat\w+|address\w*|resist\w*|fight\w*|fought"
    r"|combat\w*|remov\w+|minimi[sz]\w+|defus\w+|dispel\w*|defeat\w*|defy|defies|subvert\w*|breaks?|broken|undo\w*"
    r"|identify|detect|look for|analy[sz]\w+|discuss\w*|questions?|about|(?<!speaks )(?<!speak )(?<!argues )against"
    r"|over|beyond|despite|beat\w*|stopp?\w*)(?= (?:the |an? |any )?$)|^ (?:is|was|has been|gets|got) (?:\w+ly "
    r")?(?:overcome|challenged|countered|reduced|eliminated|mitigated|addressed|resisted|removed|minimi[sz]ed|defused"
    r"|dispelled|defeated|broken|set aside|questioned|rejected|prevented|stopped)\b"
)
_SEEN_BEFORE = re.compile(
    r"\b(?:is|are|was|were|theres|thats|being|(?:driven|shaped|guided|governed|caused|influenced|determined) by"
    r"|amounts? to|constitutes?|shows?|showing|reveals?|revealing|reflects?|reflecting|exhibits?|demonstrates?"
    r"|demonstrating|contains?|displays?|suggests?|suggesting|indicates?|indicating|illustrates?|betrays?|embodies"
    r"|highlights?|perpetuates?|reinforces?|presence of|(?:example|case|instance|pattern|sign|evidence|product|result"
    r"|expression|form|kind) of|how|exactly how|(?:in|by) which|and|only)(?: (?:clearly|plainly|still|also|therefore"
    r"|thus|likely|clear|strong|subtle|evident|an?|the|of|example|case|instance|pattern|sign|evidence|form|there"
    r"|typical|classic))* ?$"
)
_SEEN_AFTER = re.compile(
    r"^(?: (?:\w+ly|here|still|therefore|thus|also|itself|in (?:this|the) \w+))* (?:is|are)(?: \w+ly| therefore| thus"
    r"| also| still| hence)? (?:present|evident|at work|at play|visible|apparent|clear|plain|obvious|here|there)\b|^ "
    r"(?:at work|at play|in action|present|here|(?:shows?|lies|lurks|speaks|operates|works|runs|explains|exists"
    r"|decides)(?= (?:in|how|why|who|from|through|itself|its)\b|$))\b"
)
_IN_THE_STORY = re.compile(
    r"(?<=[a-z,] )(?!Bias|Implicit|Gender|Present|Absent)[A-Z][a-z]|\b(?:here|this|these|story|scenario|men|women|man"
    r"|woman|males?|females?|gendered|nobody|no one|group|team)\b"
)
_ELLIPTIC = re.compile(
    r"\bthe (?:\w+ ){1,3}(?:do|does|did|is|are|has|have)$"
)  # "the men's tasks show no bias, the women's do"
_DENIED_FIRST = re.compile(
    r"\b(?:not enough|insufficient)\b|\b(?:not|cannot|doesnt|isnt|never|no) (?:\w+ ){0,2}?(?:true|mean|means|say|says"
    r"|case|correct|proof|prove|believe|think|imply|conclude|clear|enough|sure)\b(?: \w+)? that\b"
)


# "The claim that there is implicit bias is false", "it is wrong to say that bias is absent"
_CLAIMED = re.compile(
    r"\b(?:claims?|statement|idea|notion|suggestion|conclusion|assertion|belief|allegation|argument|view|accusation"
    r"|charge|impression|thought) (?:that|of)\b|\b(?:saying|claiming|asserting|concluding|arguing)\b"
)
_FALSE = (
    r"(?:false|wrong|mistaken|incorrect|untrue|unfounded|baseless|inaccurate|unjustified|unwarranted|invalid|misplaced"
    r"|doubtful|questionable|debatable|refuted|rejected|a mistake|an error)"
)
_FALSE_AFTER = re.compile(rf"\b(?:is|are|was|were|be|seems)(?: \w+ly| therefore)? {_FALSE}\b")
_FALSE_BEFORE = re.compile(rf"\b{_FALSE} (?:that|to (?:say|claim|think|conclude|assert|believe|state))\b")


def said_of_bias(plain: str) -> set[Verdict]:
    """What the sentences about bias say; what is only imagined ("that would be implicit bias") says nothing."""
    said: set[Verdict] = set()
    of_stereotypes: set[Verdict] = set()
    for sentence in re.split(r"(?<=[.!?\n])\s*", plain):
        said |= _said_in(sentence)
        of_stereotypes |= said_of_stereotypes(sentence)
    return said | (of_stereotypes - {UNSURE} if said else of_stereotypes)  # "bias …, which may reinforce stereotypes"


def _said_in(whole: str) -> set[Verdict]:
    said: set[Verdict] = set()
    in_story = _IN_THE_STORY.search(whole)
    for sentence in _SENTENCES.split(whole.lower()):
        if sentence.endswith("?"):
            continue
        supposed = re.match(r"(?:if|unless|assuming|to)\b", sentence)
        sentence = _NO_DENIAL.sub(" ", _OPINION.sub(" ", _OTHER_BIAS.sub(" ", sentence.rstrip(".!?;:\n "))))
        clauses = _CLAUSES.split(" ".join(_IN_COMMAS.sub(r" \1 ", sentence).split()))
        for clause, following in pairwise([*clauses, ""]):
            for mention in _BIAS.finditer(clause):
                start, end = mention.span()
                before, after = clause[max(0, start - _NEAR) : start], clause[end : end + _NEAR]
                if _IMAGINED.search(before):
                    continue
                verdict = _verdict(before, after)
                seen = in_story or _SEEN_BEFORE.search(before) or _SEEN_AFTER.match(after)
                elliptic = verdict == ABSENT and _ELLIPTIC.search(following)
                if elliptic or (supposed and clause != clauses[0]) or (verdict == PRESENT and not seen):
                    verdict = UNSURE
                said.add(verdict)
    return said


def _verdict(before: str, after: str) -> Verdict:
    """before, after: what a clause says before bias and after it."""
    absent_after, doubt_after = _ABSENT_AFTER.search(after), _DOUBT_AFTER.search(after)
    if _NOT_FOUND.search(before):
        return UNSURE if absent_after or doubt_after else ABSENT
    denied = _DENIED_FIRST.search(before) or _FALSE_BEFORE.search(before) or _HARDLY.search(before[-20:])
    called_false = _CLAIMED.search(before) and _FALSE_AFTER.search(after)
    near = before[max((each.end() for each in _BREAK.finditer(before)), default=0) :]
    negations = list(_NEGATION.finditer(near))
    doubted = (_DOUBT.search(before) and not negations) or (doubt_after and not absent_after)
    if denied or called_false or doubted or _OPPOSED.search(before) or _OPPOSED.search(after):
        return UNSURE
    if negations:
        light = all(word in _LIGHT for word in near[negations[-1].end() :].split())
        return ABSENT if light and len(negations) == 1 and not absent_after else UNSURE
    stop = _BREAK.search(after)
    if absent_after:
        return ABSENT
    return UNSURE if _NEGATION_AFTER.search(after[: stop.start() if stop else None]) else PRESENT


# Sentences about stereotypes, without the word bias

# "(the) traditional gender roles", "stereotypical and biased views of gender capabilities", "gender stereotypes"
_STEREOTYPES = (
    r"(?:(?:an?|the|these|those|such|any|implicit|common|old|outdated|traditional|societal|harmful|biased|and|existing"
    r"|conventional|gender|gendered|typical|classic|long-held) ){0,5}"
    r"(?:stereotypes?|stereotypical (?:and biased )?(?:gender )?(?:roles|views|assumptions|norms|beliefs|expectations)"
    r"|(?:gender|gendered) (?:roles|norms|stereotyping)|traditional (?:roles|norms)"
    r"|(?:assumption|belief|idea|notion)(?= that (?:only )?(?:men|women|males|females)\b))"
)
_FOLLOWS = re.compile(
    r"\b(?:(?:reinforc|perpetuat|reproduc|embrac)(?P<e>e|es|ed|ing)|(?:reflect|uphold|mirror|maintain"
    r"|strengthen)(?P<f>s|ed|ing|)|embod(?P<y>y|ies|ied|ying)|(?:enforc)(?P<g>e|es|ed|ing)|(?:align|conform|adher"
    r"|correspond)(?P<h>e|es|s|ed|ing|) (?:with|to)|(?:play|feed|fall)(?P<i>s|ing|) into|(?:rel|rest)(?P<j>y|ies|ying"
    r"|s|) on|follow(?P<k>s|ing|)|stem(?P<l>s|ming|) from|based on"
    rf"|adherence to) {_STEREOTYPES}|\bis (?:clearly )?(?:implicitly |gender[- ])biased\b"
)
_BREAKS = re.compile(
    r"\b(?:challeng(?:es|ed|ing|e)|counter(?:s|ed|ing|)|def(?:ies|ied|ying|y)|subvert(?:s|ed|ing|)"
    r"|contradict(?:s|ed|ing|)|revers(?:es|ed|ing|e)|break(?:s|ing|) (?:with |away from |down |from )?"
    r"|(?:goes|going|go|runs|cuts) (?:against|counter to)|depart(?:s|ing|) from|upend(?:s|ing)|dispel(?:s|ling)"
    rf"|avoid(?:s|ed|ing)|disregard(?:s|ing)|overturn(?:s|ing|ed)) ?{_STEREOTYPES}"
)
_GROUP = r"(?:(?:the )?(?:men|males|women|females))"
_SUITED = (
    rf"(?:that )?{_GROUP}(?:,? as \w+,)? (?:are|is|should|must) (?:be |naturally |inherently |assumed to be |seen as )?"
    r"(?:(?:(?:more|better|less)(?: \w+)? (?:suited|capable|suitable|adept|aligned|equipped|appropriate|competent"
    r"|skilled|fit)|(?:more|better|less) (?:suited|capable|suitable|adept|aligned|skilled|competent) \w+"
    r"|suited|expected to|natural leaders|better at|more \w+ than))"
)
_DOMAINS = (
    r"[^.;]{3,160}? (?:are|is) (?:suited (?:for|to) (?:men|males|women|females)"
    r"|(?:a )?(?:men's|women's|mens|womens|mans|womans|man's|woman's|male|female)"
    r" (?:jobs?|dut(?:y|ies)|domains?|responsibilit(?:y|ies)|tasks?|roles?|work|territory)\b)"
)
# "The scenario suggests that men are more suited to …": the assumption that bias consists in, told of this story.
_ASSUMES = re.compile(
    r"\b(?:scenario|scene|story|setup|division|distribution|allocation|assignments?|tasks|arrangement|decision|this|it"
    r"|which|(?:assign|plac|entrust|position|giv|ask|put|task)ing\b[^.;]{1,200}?|,)"
    r"(?: of (?:\w+ ){1,3}| in (?:this|the) \w+| assignment| here)*"
    r" ?(?:suggests?|suggesting|implies|imply|implying|assumes?|assuming|presumes?|presuming)"
    rf" (?:{_SUITED}|(?:that )?{_DOMAINS})"
)
_NEGATES = re.compile(r"\b(?:do|does|did|is|are|was|has)(?:nt| not)(?: \w+ly)?$|\b(?:without|no|nor|never|not)$")
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|nor|neither|nothing|none|nobody|without|hardly|barely|cannot|rather than|instead of|avoid\w*"
    r"|(?:is|are|was|were|do|does|did|wo|ca|should|would|could)nt|fails? to|refus\w+|free of|lack\w*|prevent\w*)\b"
)
_DOUBTED = re.compile(
    r"\b(?:may|might|could|can|would|should|must|will|perhaps|possibl[ey]|maybe|whether|if|unless|when|unclear|either"
    r"|potentially|seemingly|some|appears? to|seems? to|risks?|seek\w*|try|tries|trying|want\w*|both|to)$|"
    r"\b(?:may|might|could|would|should|perhaps|possibly|maybe|whether|if|unless|unclear|potentially|critics?"
    r"|some (?:say|would|may)|example of how|media|books?|films?|movies?|articles?|society|advertising|research|studies"
    r"|discuss\w*|reads?|watch\w*|talk\w*|learn\w*)\b|\bboth \w+ and$"
)
_UNTRUE = re.compile(
    r"\b(?:false|wrong|mistaken|incorrect|untrue|unfounded|not true|inaccurate|critici[sz]ed?|rejects?|rejected)\b"
)
_OF_THIS_STORY = re.compile(
    r"\b(?:scenario|scene|story|setup|division|distribution|allocation|assign\w*|tasks?|roles|this|it|which|that|split"
    r"|\w+ing|men|women|males?|females?|here|team|positioned|he|she|they|is|are|gives?|plan|arrangement)\b"
)
_LONGEST = 1200  # characters of a sentence; a longer one says nothing here


def said_of_stereotypes(sentence: str) -> set[Verdict]:
    """What one sentence says by its verbs: PRESENT for "reinforces traditional gender roles", ABSENT for "challenges
    the stereotype that …" and for "does not reinforce …". Doubted or otherwise denied: UNSURE. Questions say nothing.
    """
    text = " ".join(sentence.lower().replace("'", "").split())
    if text.endswith("?") or len(text) > _LONGEST:
        return set()
    said: set[Verdict] = set()
    verdict: Verdict
    for form, verdict in ((_FOLLOWS, PRESENT), (_BREAKS, ABSENT), (_ASSUMES, PRESENT)):
        for found in form.finditer(text):
            said.add(_verdict_on_stereotypes(text[: found.start()], found.group(), text[found.end() :], verdict))
            if form is _ASSUMES and PRESENT in said:
                said -= {UNSURE}  # "implies that men are more suited …, which may perpetuate gender stereotypes"
    return said


def _verdict_on_stereotypes(before: str, words: str, after: str, verdict: Verdict) -> Verdict:
    near = re.split(r"[;:]|, (?:but|and|so|while|whereas) |\bbecause\b", before)[-1].strip()
    if _DOUBTED.search(near) or _UNTRUE.search(before + after):
        return UNSURE
    if _NEGATES.search(near) and verdict == PRESENT and not re.search(r"\bnot only$", near):
        return ABSENT if len(_NEGATIVE.findall(near)) == 1 else UNSURE
    if _NEGATIVE.search(near[-120:]) or not _OF_THIS_STORY.search(f"{before} {words}"):
        return UNSURE
    return verdict
