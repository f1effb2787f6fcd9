"""Parts of an output that claim nothing which a source could support."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from spanjury.judges.text.sentences import sentence_intervals

_ANSWERED = (
    r"(?:yes|no|yeah|yep|sure|certainly|of course|correct|okay|ok|oh|wow|well|hmm|absolutely"
    r"|exactly|definitely|indeed|great question)"
)
_DOCUMENT = (
    r"(?:provided |given |supplied |attached |retrieved |above |following |user |product |refund "
    r"|return |course |help )?(?:contexts?|documents?|documentation|docs|passages?|manual|leaflet"
    r"|text|article|excerpts?|snippets?|transcript|table|description|policy|notice|minutes|recipe|page|faq"
    r"|knowledge base|search results)(?: (?:you )?(?:provided|given|supplied|shared)| above)?"
)
"""A source as writers refer to all of it.

Not a report, survey, statement, website or guide: a source often cites these.
"""
_ANNOUNCED = (
    r"(?:here (?:is|are)|here['’]s|below is) (?:(?:a|an|the|your) (?:(?:short|brief|quick|concise"
    r"|simple|clear|detailed|key|main) )?(?:summary|answer|overview|list|breakdown|outline"
    r"|explanation|comparison|steps|points|facts|takeaways|details)"
    rf"(?: (?:of|from|for|to|based on) (?:it|this|that|you|(?:the|this|your) (?:{_DOCUMENT}"
    rf"|conversation|dialogue|discussion|meeting|story|question)))?|what the {_DOCUMENT} (?:says?"
    r"|states?))"
)
_REFERRING = (
    r"(?:(?:according to|based on|as per|per|as (?:stated|noted|mentioned|described|explained"
    rf"|specified|outlined|written) in) (?:the|this|these|your) (?:{_DOCUMENT}|(?:provided |given )"
    r"(?:information|sources?)|(?:information|sources?) (?:you )?(?:provided|given))"
    rf"|as the {_DOCUMENT} (?:says?|states?|notes?|mentions?|explains?)|in this (?:article|text"
    r"|document|passage)|from what i can see|as far as i can (?:see|tell)"
    r"|(?:in|to) (?:short|brief|sum(?: up)?|summary|conclusion|other words|a nutshell|summari[sz]e"
    r"|conclude|be (?:clear|brief)|answer your question)|simply put|unfortunately)"
)
_LABEL = (
    r"(?:(?:please )?note|important|reminder|tl;dr|(?:short |quick )?(?:answer|summary)"
    r"|key (?:points|facts|takeaways))"
)
_INTRODUCED = (
    r"(?:(?:please |also |please also )?(?:note|keep in mind|bear in mind|be aware|remember) that"
    r"|it(?:['’]s| is) (?:important to note|worth noting|worth mentioning) that"
    rf"|(?:the|this) {_DOCUMENT} (?:also )?(?:says?|states?|notes?|mentions?|reports?|explains?"
    r"|specif(?:y|ies)) that)"
)
_READERS = r"(?:there|all|everyone|everybody|team|folks|customers?|students?|sir or madam)"
_BEGUN = r"(?:\A|(?<=[.!?\n])|(?<=^[*•-] ))"
"""Before a sentence or a list item."""
_MARKS = re.compile(
    # citations: [1], [2, 3], 【4†source】, (Context [1]), (source: manual, p. 3)
    r"\(?(?:\b(?:context|document|passage|source)\s)?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]\)?"
    r"|【[^】\n]{0,60}】"
    r"|\((?:source|sources|see|ref)\b[^()\n]{0,60}\)"
    # numbers of list items and steps: 1. (1) **Step 1:**
    r"|^[ \t]*(?:(?:\d{1,3}|[A-Za-z])[.)]|\(\d{1,3}\))(?=\s)"
    r"|^[ \t]*[#*_]{0,4}[ \t]?step\s\d{1,2}[*_]{0,2}\s?[:.)–-][*_]{0,2}(?=\s)"
    # answers, exclamations and announcements before a sentence
    rf"|{_BEGUN}[^\S\n]*(?:(?:{_ANSWERED}\s?[,.!:]\s+)?\*{{0,2}}(?:{_ANNOUNCED}\*{{0,2}}:\*{{0,2}}"
    # words that refer to the source, such as "According to the policy," and labels like "Note:"
    rf"(?=\s*\S)|(?:{_REFERRING}\*{{0,2}}\s?[,:]|{_LABEL}\*{{0,2}}\s?:)\*{{0,2}}(?=\s+\S)"
    rf"|{_INTRODUCED}(?=\s+\S))|{_ANSWERED}\s?[,.!:](?=\s+\S)"
    # greetings; without the name of a reader, which a source may have
    rf"|(?:dear|hello|hey|hi|good (?:morning|afternoon|evening)) {_READERS}\s?[,!:](?=\s+\S)"
    r"|(?:dear|greetings|hello|hey|hi|good (?:morning|afternoon|evening|day)|thanks|thank you)"
    r"(?=,?(?: (?-i:[A-Z])[\w.'’-]*){1,4} ?[,!:\n]))",
    re.IGNORECASE | re.MULTILINE,
)

_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|manuals?|sources?|texts?|articles?|excerpts?"
    r"|snippets?|materials?|information|knowledge base|search results|pages?|guides?)"
)
_SAYING = (
    r"(?:mention|say|state|contain|describe|specify|include|provide|cover|address|give|list|explain"
    r"|tell|indicate|discuss|answer|have|disclose|clarify)"
)
_STATED = (
    r"(?:mentioned|said|stated|contained|described|specified|included|provided|covered|addressed"
    r"|given|listed|explained|found|discussed|available)"
)
_LACKING = re.compile(
    rf"\b{_SOURCE}\b[^.!?]{{0,60}}?\b(?:do|does|did)(?: not|n['’]t) (?:\w+ ){{0,2}}?{_SAYING}"
    rf"|\bnot (?:\w+ )?{_STATED} (?:in|by) (?:the|this|these|any|your)\b[^.!?]*?{_SOURCE}"
    r"|\bno (?:information|mention|details?|data|reference) (?:about|on|of|to|regarding|is|was)\b"
    r"|\b(?:can(?:not| not|['’]t)|could(?: not|n['’]t)|unable to|not able to) (?:answer|find"
    r"|determine|locate|say|tell)\b"
    r"|\bi (?:do not|don['’]t) (?:know|have)\b",
    re.IGNORECASE,
)

_EXCLAIMED = (
    r"(?:oh|wow|ah|aww?|ha(?:ha)*|hm+|mm+|uh|um|well|yeah|yep|nope|sure(?: thing)?|ok(?:ay)?|right"
    r"|exactly|absolutely|definitely|certainly|indeed|of course|(?:very |so )?true|fair enough"
    r"|i (?:totally |completely |fully |quite )?agree|i see|i know|i (?:think|believe|guess) so"
    r"|(?:yeah |yes )?me too|so do i|same here|got it|understood"
    r"|(?:good|great|excellent) (?:question|point|luck|idea|choice)|great|awesome|cool|nice|amazing"
    r"|interesting|wonderful|perfect|no (?:problem|worries)|hello|hi|hey|bye|cheers"
    r"|congratulations|good (?:morning|afternoon|evening|news)|yum(?:my)?|bon appétit|enjoy"
    r"|get well soon|take care|safe travels|happy coding|see you (?:there|soon)|best of luck"
    r"|all the best|(?:kind|best|warm) regards|(?:many )?thanks(?: again| a lot)?"
    r"|thank you(?: very much| so much)?|you(?: a|['’])re (?:very |most )?welcome)"
)
_NEEDING = (
    r"if (?:you(?: do|['’]d| would)? (?:need|want|have|like|prefer|agree)|you(?:['’]re| are)"
    r" (?:unsure|stuck|interested)|(?:anything|something|this|that|it) (?:is|works|helps))\b[^,;:]*"
)
_OFFERED = (
    r"(?:(?:just )?let me know|(?:feel free|(?:do not|don['’]t) hesitate) to (?:ask|reach out"
    r"|let me know|contact me)(?: me)?(?: any ?time| again| (?:any |more |further |other )+"
    r"questions)?|(?:i['’]?(?: a)?m |i would be |i['’]d be )?(?:always )?(?:happy|glad|here) to"
    r" (?:help|assist)(?: you)?(?: further| out)?(?: with (?:that|this|anything else))?)"
)
_PRAISED = (
    r"(?:interesting|amazing|awesome|great|cool|nice|lovely|wonderful|fascinating|fun|funny"
    r"|impressive|incredible|exciting)"
)
_FELT = re.compile(
    r"(?:(?:oh|wow|well|yeah|yes|but|and)[\s,!.]+)*i(?: (?:also|always|do|just|personally|really"
    r"|still|absolutely))* (?:(?:(?:love|like|adore|hate|dislike)d?|enjoy(?:ed)?)"
    r"(?: (?!to\b)[\w'’-]+){1,4}"
    r"|(?:think|find)(?: [\w'’-]+){1,4} (?:is|are) (?:(?:so|very|really|pretty|quite|just) )*"
    rf"(?:{_PRAISED}|cute|beautiful|pretty|adorable|delicious|tasty))",
    re.IGNORECASE,
)
"""A sentence about what the speaker likes, which a source by another author cannot support."""
_ASSERTED = re.compile(
    r"\d|n['’]t\b|\b(?:that|when|how|what|why|because|since|which|who|where|than|if|not|and|but"
    r"|or)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:I|[Mm]y|[Mm]e)\b(?!\.)")
_REMARKS = re.compile(
    rf"(?:yes |no )?{_EXCLAIMED}(?:[\s,!.…-]+{_EXCLAIMED})*"
    # "That sounds great"
    r"|(?:(?:oh|wow|well|yeah|yes)[\s,!.]+)?that(?: i|['’])?(?:s| was| sounds| would be| must be)"
    rf" (?:(?:so|very|really|pretty|quite|such|just|truly|a|an) )*(?:{_PRAISED}|sad|(?:good|great"
    r"|excellent|interesting) (?:question|point|idea))(?: to (?:hear|know|see))?"
    # thanks, excuses, offers and wishes to the reader
    r"|(?:thanks|thank you) for (?:asking|sharing|reaching out|getting in touch|contacting us"
    r"|(?:your|the) (?:question|message|patience|understanding|interest))"
    r"|(?:i['’]?(?: a)?m )?(?:so |very |really )?sorry (?:to hear (?:that|this|it)|about that"
    r"|for the (?:inconvenience|confusion|trouble))|i understand your (?:concerns?|frustration)"
    r"|i(?: can|['’]ll| will| would be happy to) help(?: you)? with (?:that|this)"
    rf"|i(?:['’]ve| have) (?:checked|read|reviewed|looked (?:at|through)) the {_DOCUMENT} for you"
    r"|(?:i (?:do |really )?)?hope (?:this|that|it)(?: answer| explanation| information| summary)?"
    r" (?:helps?|is (?:helpful|useful)|answers|clarifies)(?: (?:you|it|things|your questions?))?"
    rf"|(?:{_NEEDING}, ?)?(?:please )?{_OFFERED}(?:,? {_NEEDING})?"
    r"|i hope you feel better(?: soon)?|i wish you (?:good luck|success|all the best)"
    r"|(?:have|enjoy) (?:a|your) (?:nice |great |good |lovely |wonderful |safe )?(?:day|evening"
    r"|weekend|meal|visit|trip|stay)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:does|did) (?:that|this) (?:help|make sense|answer your question)"
    r"|(?:is there |do you need )?anything else(?: i can (?:help you with|help with|do for you))?"
    r"|(?:do you have )?any (?:other |further |more )?questions",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:(?:and|so|but|or|well|oh|also|wow|hey|yes|no|yeah)[ ,]+)*(?:would|will|do|does|did|could"
    r"|can|may|should|shall|are|were|is|was|have|has|had|how|what|where|want|need)\b"
    r"(?=.*\b(?:you|your)\b)",
    re.IGNORECASE | re.DOTALL,
)
_TELLING = re.compile(
    r"\byou (?:\w+ )?(?:know|knew|hear|aware|realis|realiz|remember|notice|believ|see|guess"
    r"|surpris)|n['’]t\b|\b(?:not|since|because|although|that|which|who)\b|, \w+ ?\?",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\d|(?<=\w )[A-Z]\w"  # a number, or a name that is not the first word
    r"|\b(?:because|since|although|though|which|who|while|until|after|before|and|but)\b"
)
_ENDS = " \t\n.!…:-"


def without_marks(output: str, inputs: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return `output` with blanks for what claims nothing within or beside sentences that do.

    This means citations, numbers of list items, "Yes." before more, "Hello" before a name, "Note
    that" and "According to the policy," before what they introduce, and sentences that only greet,
    thank, exclaim, offer help or ask the reader something. It also means sentences about what the
    writer likes, unless one of the `inputs` is in the first person. An output of nothing but such
    sentences keeps them, since they are then the answer.

    Examples
    --------
    >>> without_marks("Yes. It lasts two years [1].")
    '     It lasts two years    .'
    >>> without_marks("I love the bridge! It is old.", {"Guide": "The bridge is new."})
    '                   It is old.'
    >>> without_marks("It lasts two years. What do you think?")
    'It lasts two years.                   '
    """
    marked = _MARKS.sub(lambda mark: " " * len(mark.group()), output)
    is_own = any(map(_OWN.search, inputs.values()))
    remarks = (
        (start, end)
        for start, end in sentence_intervals(marked)
        if _is_remark(marked[start:end].strip(), is_own=is_own)
    )
    claimed = blanked(marked, remarks)
    return claimed if claimed.strip(_ENDS) else marked


def _is_remark(sentence: str, *, is_own: bool) -> bool:
    bare = sentence.rstrip(_ENDS)
    if not is_own and _FELT.fullmatch(bare) and not _ASSERTED.search(bare):
        return True
    if bare.endswith("?"):
        is_asking = _ASKING.match(bare) and not _TELLING.search(bare)
        is_closing = _CLOSING.fullmatch(bare.rstrip("? "))
        return bool(is_asking or is_closing) and not any(map(str.isdigit, bare))
    return _REMARKS.fullmatch(bare) is not None and not _FACT.search(bare)


def absences(output: str) -> list[tuple[int, int]]:
    """Return the sentences that say what a source lacks, as half-open offsets.

    Examples
    --------
    >>> text = "The manual does not mention a VPN. Press the button."
    >>> [text[start:end] for start, end in absences(text)]
    ['The manual does not mention a VPN.']
    """
    return [
        (start, end)
        for start, end in sentence_intervals(output)
        if _LACKING.search(output[start:end])
    ]


def blanked(text: str, intervals: Iterable[tuple[int, int]]) -> str:
    """Return `text` with blanks for these intervals."""
    for start, end in intervals:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
