"""Closed sets of English words for the comparison of two nearly equal sentences."""

from spanjury.judges.rules.alignment.keys import keys_of
from spanjury.judges.rules.alignment.opposites import OPPOSITE_WORDS
from spanjury.judges.text.lexicon import FUNCTION_WORDS

_ALIGNED = OPPOSITE_WORDS | {"like", "tell", "tells", "told"}
LIGHT = (
    FUNCTION_WORDS
    | frozenset(
        """shan ll ve re em gonna able manages managed mr mrs ms dr sir also added adds explained
        remarked per approximately approx circa""".split()  # noqa: SIM905
    )
) - _ALIGNED
"""Words that are not aligned: they carry grammar, and are kept with the next word."""

NEGATORS = frozenset(
    "not never no nor neither without nobody none nothing nowhere nt".split()  # noqa: SIM905
)
"""Words that deny the next word."""

PARTIAL = frozenset("acting deputy former half twice unlike vice".split())  # noqa: SIM905
"""Words that limit what follows to a part of it, or to another."""

REVERSING = (NEGATORS - {"nor"}) | frozenset(
    """unable deny denies denied refuse refuses refused reject rejects rejected fail fails failed
    decline declined lack lacks lacked lose loses lost missing avoid avoided stop stops stopped
    prevent prevents prevented forbid forbids forbade forbidden prohibit prohibited ban banned
    ruled instead except unless contrary hardly barely""".split()  # noqa: SIM905
)
"""Words that turn a clause into its opposite, at any position in it."""

TURNING = frozenset(
    """only until till unless except but hardly barely yet still already than even most few every
    all half rather either both""".split()  # noqa: SIM905
)
"""Words that change the reach of a denial or an opposite."""

OF_RULES = frozenset(
    """if anyone whoever too enough may can cannot must could should would need needs allowed
    entitled free""".split()  # noqa: SIM905
)
"""Words of sentences that apply a rule to a case: ``Three cans a day are too many.``"""

INFINITIVE_NEGATORS = frozenset(
    """fail fails failed failing refuse refuses refused refusing decline declines declined declining
    unable unwilling neglected neglects""".split()  # noqa: SIM905
)
"""Words that deny the next word with ``to`` between them."""

HARMLESS_AFTER_NO = frozenset(
    "doubt matter less more fewer sooner wonder sign problem worries way later".split()  # noqa: SIM905
)
"""Words before which ``no`` does not deny a fact."""

PREPOSITIONS = frozenset("in on at of by to for with from into about".split())  # noqa: SIM905
"""Words that form an adverbial with a noun, whose denial does not deny the sentence."""

MODALS = frozenset("could may might must should would".split())  # noqa: SIM905
"""Verbs that state a possibility or an obligation rather than a fact."""

BLURRING = frozenset(
    """until till unless only just merely simply necessarily hardly barely scarcely rarely seldom
    whether but except if yet all every always entirely fully completely both exactly quite
    particularly or than wait alone""".split()  # noqa: SIM905
)
"""Words near a denial that make its reach uncertain."""

REPORTING = frozenset("said says say saying added adds told tells explained remarked".split())  # noqa: SIM905
"""Verbs that attribute a quote to a speaker."""

DETERMINERS = frozenset("the a an his her its my our their your".split())  # noqa: SIM905
"""Articles and possessives that begin a phrase."""

SUBJECTS = frozenset("he she it they we i you".split())  # noqa: SIM905
"""Pronouns that are the subject of a clause of their own."""

JOINING = frozenset(
    """and or with between versus vs v nor as while when because since if for where after before
    plus & , ; ( ) :""".split()  # noqa: SIM905
)
"""Words and marks that join two names, or two clauses, as equals."""

BE = frozenset("is are was were be been being am get gets got".split())  # noqa: SIM905
"""Verbs that form a passive."""

SYMMETRIC = keys_of(
    """meet marry married wed play face join resemble equal match separate divorce talk spoke
    chat argue agree disagree fight share date compete collaborate cooperate merge
    brother sister friend colleague partner rival neighbour neighbor cousin twin
    teammate opponent ally sibling relative classmate roommate flatmate become
    remain seem stay tie tied draw border differ different same similar near plus
    minus and next close beside opposite contact both game clash final semi
    semifinal quarter score between versus vs v against link connect combine mix
    compare include including such namely call know"""
)
"""Words around which names may be exchanged without a change of meaning."""
