"""Titles, and names that are English words too."""

from __future__ import annotations


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
