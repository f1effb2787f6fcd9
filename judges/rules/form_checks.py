"""Checks of a text's form, which yield only sure errors.

They check spelling, and punctuation, grammar and case within one or two words, the debris that
broken encodings, mark-up and models leave in a text, and repetition.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.numbers import numbers
from spanjury.judges.text.sentences import Sentence
from spanjury.judges.text.spelling import CORRECTIONS
from spanjury.judges.text.words import Word

_STRAY = re.compile(r"(?<=[\w)\]\"”'’])[ \t]+[,.;:!?](?=\s|$)")
_MISSING = re.compile(
    r"(?<![\w.@/:])[A-Za-z]+([,;])(?=[A-Za-z]{2})|\b[a-z]{3,}([.!?])(?=[A-Z][a-z]+[\s,])"
)
_DOUBLED = re.compile(
    r"[,;](?:[ \t]*[,;.](?!\d))++|(?<![.\w/])\.[ \t]+\.(?![ \t]*\.)|(?<=\w)\.\.(?![./\w])"
    r"|[?!][,.](?!\w)"
)
_SPACED_ELLIPSIS = re.compile(r"\.[ \t]\.[ \t]\.")
_OPENERS = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[()\[\]{}]")
# List numbers, such as "a)" and "(1", and emoticons.
_NO_BRACKET = re.compile(r"(?:^|[\s(])\w{1,3}\)|[:;=8xX]['’]?-?[()\[\]]|[()\[\]]-?[:;=]")
_INCHES = re.compile(r'\d"')
_STOPS = frozenset(".!?…。！？।")
_CLOSERS = "\"'”’»)]}`*_ \t\n"
_PAIRED = frozenset('"”»)]`')
"""Closing marks, which show that what they enclose is complete; no apostrophes."""
_GOES_ON = frozenset(",;-–(")
_DANGLING = frozenset(
    """a an the and or but nor because although than into my your our their its whose if
    of with from as at by per via who which was is are were has have had he she they we to for
    in his""".split()  # noqa: SIM905 - so many read best so
)
"""Words that do not end a text without a stop."""
_NEVER_LAST = frozenset(
    "an the and or nor because although than my your our their whose".split()  # noqa: SIM905
)
"""Words that do not end a sentence, even with a stop."""
_CAPITALISED = r"[A-Z][\w.'’-]*"
_STOP_BEFORE = r"[.!?…]['\"”’)]*"
_SIGNATURE = (
    rf"(?:^|{_STOP_BEFORE}\s+)(?i:(?:(?:with )?(?:best|kind|kindest|warm|warmest|many) )?"
    r"(?:regards|wishes|thanks)(?: again| in advance| a lot| so much)?|all the best|best"
    r"|yours(?: \w+)?|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?|respectfully|cheers"
    r"|thank you|(?:with |lots of )?love|take care|hugs|see you(?: soon| then| later)?|bye"
    r"|talk soon|good luck|yes|no|yes,? please|no,? (?:thanks|thank you)|the end|read more)"
    rf"(?:[ ,!\n]+{_CAPITALISED}){{0,4}}(?: x+)?,?\Z"
    rf"|{_STOP_BEFORE}\s*(?:[—–~]|--?) ?{_CAPITALISED}(?: {_CAPITALISED}){{0,3}}\Z"
    r"|\bSent from my [\w ]{2,20}\Z"
)
_COMPLETE = re.compile(
    r"```\Z|`[^`\n]+`\Z"  # code
    r"|^[ \t]*(?:[-*_=~] ?){3,}\Z|^(?:[^|\n]*\|){2}.*\Z"  # a rule, a row of a table
    r"|(?:https?://|www\.)\S+\Z|\S@[\w-]+\.\S+\Z|(?:^|\s)[@#]\w+\Z"  # addresses, tags
    r"|\b[a-z][\w.-]*\.(?:com|org|net|edu|gov|info|io|eu|uk|de)(?:/\S*)?\Z"
    r"|(?:^|\s)(?:[:;=]['’]?-?[()\[\]DPpOo3/|*]+|<3|x{1,3}|(?:xo)+)\Z"  # emoticons, kisses
    r"|[=<>≤≥≈^]\s?\S+\Z"  # a formula
    rf"|{_STOP_BEFORE}(?:[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\[\d+\])\Z|" + _SIGNATURE,  # a reference
    re.MULTILINE,
)
"""The ends of complete texts that no stop closes."""
_TAIL = 200  # characters at the end of a text in which these are searched
_PRONOUN = "(?:I|it|he|she|they|we|you|this|that)"
_CLAUSE = re.compile(
    r"(?:(?:\b(?:who|what|where|how|which|than) |\?\s)(?:\w+ )?|\b(?:yes|no),? |^so )"
    rf"(?:\w+ )?{_PRONOUN} (?:is|was|are|were|has|have|had)\Z"
    r"|(?:^|[.!?]\s)(?:who|what|where|which)\b(?: (?!the |an? )\w+){2,5}"
    r" (?:for|with|from|at|in|to|of|as|by)\Z"
    r"|\b(?:log|logged|sign|signed|check|opt|plug|come|came|move|moved|chime) in\Z",
    re.IGNORECASE,
)
"""Ends of clauses with a word that seldom ends a sentence, as in ``what it is`` and ``sign in``."""
_TITLE = 8  # maximum words of a text without a stop, such as a title or a short answer


def stray_blanks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield spaces before punctuation, unless the whole text has them."""
    if not form.tokenised:
        explanation = "There is a space before the punctuation mark."
        yield from form.marks(_STRAY, severity=1, category="spacing", explanation=explanation)


def missing_blanks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield punctuation directly followed by a word, without a space."""
    for match in _MISSING.finditer(form.text):
        at = match.start(match.lastindex or 0)
        yield form.mark(
            at,
            at + 1,
            severity=1,
            category="spacing",
            explanation="There is no space after the punctuation mark.",
        )


def doubled_marks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield incompatible adjacent marks, such as two commas or two full stops."""
    if not _SPACED_ELLIPSIS.search(form.text):
        explanation = "There are two punctuation marks instead of one."
        yield from form.marks(_DOUBLED, severity=2, category="punctuation", explanation=explanation)


def unpaired_brackets(form: FormText) -> Iterator[ErrorSpan]:
    """Yield each unpaired bracket in a text that is whole."""
    if not form.is_whole:
        return
    excused = {
        at for match in _NO_BRACKET.finditer(form.text) for at in range(match.start(), match.end())
    }
    opened: list[re.Match[str]] = []
    stray: list[re.Match[str]] = []
    for match in _BRACKET.finditer(form.text):
        if match.group() not in _OPENERS:
            opened.append(match)
        elif opened and opened[-1].group() == _OPENERS[match.group()]:
            opened.pop()
        elif match.start() not in excused:
            stray.append(match)
    stray += [match for match in opened if match.start() not in excused]
    for match in sorted(stray, key=re.Match.start):
        closes = match.group() in _OPENERS
        yield form.mark(
            match.start(),
            match.end(),
            severity=2,
            category="unpaired mark",
            explanation=f'The bracket "{match.group()}" is never '
            f"{'opened' if closes else 'closed'}.",
        )


def unclosed_quotes(form: FormText) -> Iterator[ErrorSpan]:
    """Yield an unpaired quotation mark; apostrophes do not count.

    A quotation of several paragraphs opens each of them, so only a whole text of one paragraph is
    checked. A mark after a digit may stand for inches.
    """
    if not form.is_whole or "\n" in form.text.strip():
        return
    if form.text.count('"') % 2 and not _INCHES.search(form.text):
        yield _quote(form, form.text.rindex('"'))
    for opener, closer in ("“”", "«»"):
        opened, closed = form.text.count(opener), form.text.count(closer)
        if opened > closed:
            yield _quote(form, form.text.rindex(opener))
        elif closed > opened:
            yield _quote(form, form.text.index(closer))


def _quote(form: FormText, start: int) -> ErrorSpan:
    return form.mark(
        start,
        start + 1,
        severity=2,
        category="unpaired mark",
        explanation="The quotation marks are not paired.",
    )


def broken_off(form: FormText) -> Iterator[ErrorSpan]:
    """Yield the last word of each sentence that breaks off.

    Within a text, only a word that never ends a sentence in English counts. At the end of a whole
    text, a comma also counts, and so does a missing stop if the text is longer than a title or
    other sentences have one.
    """
    for sentence in () if form.unread else form.sentences:
        last = _last_word(sentence)
        bare = sentence.text.rstrip(_CLOSERS)
        if last in _NEVER_LAST and bare.endswith(".") and not bare.endswith(".."):
            yield _mark(form, sentence, last=last, severity=4, why="no sentence ends with it")
    if form.sentences and form.is_whole:
        yield from _open_end(form, form.sentences[-1])


def _open_end(form: FormText, sentence: Sentence) -> Iterator[ErrorSpan]:
    """Check the end of a text."""
    bare = sentence.text.rstrip(_CLOSERS)
    last = _last_word(sentence)
    if not last or bare[-1] in _STOPS or _COMPLETE.search(form.text.rstrip()[-_TAIL:]):
        return
    if bare[-1] in _GOES_ON:
        if not _is_habit(form, bare[-1]):
            why = "the sentence should continue"
            yield _mark(form, sentence, last=bare[-1], severity=3, why=why)
    elif last in _DANGLING and not form.unread:
        if sentence.text.rstrip()[-1] in _PAIRED or _CLAUSE.search(
            form.text.rstrip(_CLOSERS)[-_TAIL:]
        ):
            return
        yield _mark(form, sentence, last=last, severity=4, why="the sentence is not finished")
    elif bare[-1].isalnum() and _expects_stop(form, sentence):
        yield _mark(form, sentence, last=last, severity=2, why="the full stop is missing")


def _is_habit(form: FormText, mark: str) -> bool:
    """Return whether the line before the last ends with `mark` too, as in verse."""
    lines = form.text.split("\n")
    ends = [line.rstrip()[-1:] for line in lines if line.strip()]
    return ends[-2:] == [mark, mark]


def _expects_stop(form: FormText, sentence: Sentence) -> bool:
    """Return whether a stop should end the last sentence; lists, verse and sources have none."""
    is_bracket = sentence.text[0] in "([" and sentence.text.rstrip()[-1] in ")]"
    if is_bracket or "\n" in form.text.strip():
        return False
    others = form.sentences[:-1]
    if others:
        return all(other.text.rstrip(_CLOSERS)[-1:] in _STOPS for other in others)
    return sentence.text.count(" ") >= _TITLE and sentence.text[0].isupper()


def _last_word(sentence: Sentence) -> str:
    """Return the last word without stops and closing marks; empty if there is none."""
    bare = sentence.text.rstrip(_CLOSERS).rstrip("".join(_STOPS) + _CLOSERS)
    return bare.rsplit(None, 1)[-1] if bare else ""


def _mark(form: FormText, sentence: Sentence, *, last: str, severity: int, why: str) -> ErrorSpan:
    start = form.text.rindex(last, sentence.start, sentence.end)
    return form.mark(
        start,
        start + len(last),
        severity=severity,
        category="unfinished",
        explanation=f'The text breaks off at "{last}": {why}.',
    )


_ARTICLE = re.compile(r"(?<![\w.'’\-])([Aa]n?) ([a-z]+)\b(?!['’]|\.\w)")
# Vowel letters with a consonant sound, and words whose h may be silent.
_SPOKEN_CONSONANT = re.compile(
    r"one|once|use|usi|usu|uni[cfkloqstv]|eu|ew|ur[aieo]|ubiq|ut[ioe]|ouija|u[bfkp][io]|oui|uk|usb"
)
_SILENT_H = re.compile(r"hour|honest|hono|heir|homage|herb|hist|hot|hal|heroic|habit|hered|hyster")
_INITIALS = 3  # maximum letters of a word that may be spelled out, as in "an fbi agent"
_VOWELS = frozenset("aeiou")
_DISAGREEMENT = re.compile(
    r"(?:^|(?<=[.!?] ))(?:(?:He|She|It) (?:have|are|do not|don['’]t)|I (?:is|are|has))\b"
    r"|\b(?:[Tt]hey|[Ww]e) (?:was|has|is)\b",
    re.MULTILINE,
)
_BEFORE_PLURAL = re.compile(r"\b(?:of|between|around|beside|with|like|for|than|as|what) $")
_SPELT = re.compile(r"(?<![\w'’./@#&-])[a-z]{5,}(?![\w'’@/&(-]|\.\w)")
_MISHEARD = re.compile(r"\b(?:could|should|would|must) of\b(?! course)")
_TWO_ARTICLES = re.compile(r"\b(?:the an?|an? the|a an|an a)(?= [a-z]{2})")
_START = re.compile(r"[a-z]++(?![\w.@/:-]*[A-Z0-9_@/])(?=['’ ,])")
_FULL_STOP = re.compile(r"[a-z]{3,}['\"”’)]*\s?\.$")
_LONE_I = re.compile(r"(?<![\w.(\-/&'’\[*_])i(?=['’]\w|\s[a-z])")
_LOUD = re.compile(r"\b[A-Z]{2,}(?:['’][A-Z]+)?(?:[ ,]+[A-Z]{1,}(?:['’][A-Z]+)?\b){3,}")
_LONG = re.compile(r"[A-Z]{5}")


def articles(form: FormText) -> Iterator[ErrorSpan]:
    """Yield ``a`` before a vowel sound and ``an`` before a consonant sound."""

    def explain(match: re.Match[str]) -> str:
        needed = _needed(match[2])
        return f'"{match[2]}" takes "{needed}".' if needed not in {"", match[1].lower()} else ""

    yield from form.marks(_ARTICLE, severity=2, category="grammar", explanation=explain)


def _needed(word: str) -> str:
    """Return the article that `word` takes; empty if that is not sure."""
    if word in FUNCTION_WORDS or len(word) <= 2:  # noqa: PLR2004 - "vitamin a is", "an mp"
        return ""
    if word[0] in _VOWELS:
        return "a" if _SPOKEN_CONSONANT.match(word) else "an"
    return "" if _SILENT_H.match(word) or len(word) <= _INITIALS else "a"


def disagreement(form: FormText) -> Iterator[ErrorSpan]:
    """Yield pronouns with a form of the verb that they never take."""

    def explain(match: re.Match[str]) -> str:
        if _BEFORE_PLURAL.search(form.text, max(0, match.start() - 12), match.start()):
            return ""
        return f'The verb does not agree with "{match.group().split()[0]}".'

    yield from form.marks(_DISAGREEMENT, severity=3, category="grammar", explanation=explain)


def misheard(form: FormText) -> Iterator[ErrorSpan]:
    """Yield ``of`` for ``have``, and two articles for one."""
    explanation = '"of" should be "have".'
    yield from form.marks(_MISHEARD, severity=2, category="grammar", explanation=explanation)
    explanation = "There are two articles before one word."
    yield from form.marks(_TWO_ARTICLES, severity=3, category="grammar", explanation=explanation)


def misspelt(form: FormText) -> Iterator[ErrorSpan]:
    """Yield words that are a slip away from a common one.

    A word that recurs may be a term. Names have no capitals in lower-cased or tokenised data, which
    is therefore left alone.
    """
    if form.unread or form.tokenised or not form.capitals:
        return
    times = Counter(_SPELT.findall(form.text))

    def explain(match: re.Match[str]) -> str:
        right = CORRECTIONS[match.group()] if times[match.group()] == 1 else ""
        return f'"{match.group()}" is misspelt; "{right}" may be meant.' if right else ""

    yield from form.marks(_SPELT, severity=2, category="spelling", explanation=explain)


def lower_case_starts(form: FormText) -> Iterator[ErrorSpan]:
    """Yield first words in lower case, in a text that capitalises the first words of sentences."""
    if not form.capitals:
        return
    for before, sentence in pairwise(form.sentences):
        match = _START.match(form.text, sentence.start)
        if match and _FULL_STOP.search(form.text, max(before.start, before.end - 40), before.end):
            yield form.mark(
                *match.span(),
                severity=2,
                category="casing",
                explanation="The sentence begins in lower case.",
            )


def lower_i(form: FormText) -> Iterator[ErrorSpan]:
    """Yield the word I in lower case, in a text that capitalises the first words of sentences."""
    if form.capitals:
        explanation = 'The word "I" is written in lower case.'
        yield from form.marks(_LONE_I, severity=2, category="casing", explanation=explanation)


def shouting(form: FormText) -> Iterator[ErrorSpan]:
    """Yield runs of four or more words in capitals, unless all are short and may be initials."""

    def explain(match: re.Match[str]) -> str:
        is_loud = _LONG.search(match.group())
        return "These words are written in capitals only." if is_loud else ""

    yield from form.marks(_LOUD, severity=2, category="casing", explanation=explain)


_DEBRIS = tuple(
    (re.compile(pattern), severity, explanation)
    for pattern, severity, explanation in (
        ("[\ufffd\ud800-\udfff]+", 4, "A character was lost when the text was decoded."),
        (
            "(?:Ã[\u0080-\u00bf]|â€[\u0080-\u00bfœ˜™¦“”]?|Â[\u00a0£°»«®©§])+",
            4,
            "The text was decoded with the wrong encoding.",
        ),
        (
            r"&(?:amp|lt|gt|quot|nbsp|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});",
            3,
            "A character is written as its HTML entity.",
        ),
        (
            r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt](?![a-z]))",
            3,
            "A character is written as an escape sequence.",
        ),
        ("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+", 3, "The text contains control characters."),
        (
            (
                r"<(?:unk|pad|s|/s|bos|eos|mask|sep|cls|endoftext)>|\[(?:UNK|PAD|SEP|CLS|MASK)\]"
                r"|<\|\w{1,30}\|>"
            ),
            4,
            "The text contains a special token of a language model.",
        ),
        (
            (
                r"</?(?:p|br|div|span|b|i|u|a|strong|em|h[1-6]|li|ul|ol|table|tr|td)"
                r"(?:\s[^<>]{0,200})?/?>"
            ),
            3,
            "Mark-up is left in the text.",
        ),
        (
            r"(?i)\[(?:deleted|removed|citation needed|your name|insert [^\[\]]{1,40})\]",
            3,
            "A placeholder is left in the text.",
        ),
    )
)


def debris(form: FormText) -> Iterator[ErrorSpan]:
    """Yield all debris."""
    for pattern, severity, explanation in _DEBRIS:
        yield from form.marks(
            pattern, severity=severity, category="debris", explanation=explanation
        )


_MAY_DOUBLE = frozenset(
    """had that very so no ha bye really many more far long never again her there now well yes
    hear knock blah tut oh hey boo do who""".split()  # noqa: SIM905 - so many read best so
)
_IDIOMS = frozenset(("and", "by", "after", "to", "upon", "or", "over"))  # more and more and more
_PHRASE = range(2, 7)  # lengths of phrases that are checked for immediate repetition
_PASSAGE = 10  # minimum words of a repetition that is no coincidence
_SENTENCE = 4  # the same for a whole sentence


def stuttering(form: FormText) -> Iterator[ErrorSpan]:
    """Yield words and phrases that are immediately repeated.

    Names may be double (Duran Duran), and so may some words (had had).
    """
    folded = [word.folded for word in form.words]
    at = 0
    while at < len(folded):
        length = _stutter(form, folded, at=at)
        if not length:
            at += 1
            continue
        stop = at + 2 * length
        while folded[stop : stop + length] == folded[at : at + length]:
            stop += length
        first, last = form.words[at], form.words[stop - 1]
        phrase = form.text[first.start : form.words[at + length - 1].end]
        yield form.mark(
            first.start,
            last.end,
            severity=3,
            category="repetition",
            explanation=f'"{phrase}" occurs {(stop - at) // length} times in a row.',
        )
        at = stop


def _stutter(form: FormText, folded: Sequence[str], *, at: int) -> int:
    """Return how many words from `at` are immediately repeated; 0 if none."""
    following = folded[at + 1 : at + 2 * _PHRASE.stop]
    if folded[at] not in following:
        return 0
    if folded[at] == following[0] and _is_slip(form, form.words[at], form.words[at + 1]):
        return 1
    for length in _PHRASE:
        phrase, again = folded[at : at + length], folded[at + length : at + 2 * length]
        if phrase == again and _is_phrase(form, form.words[at : at + 2 * length]):
            return length
    return 0


def _is_slip(form: FormText, left: Word, right: Word) -> bool:
    """Return whether an immediately repeated word is an error."""
    if not form.between(left, right).isspace() or left.folded in _MAY_DOUBLE:
        return False
    if next(numbers([left.folded]), None):
        return False
    letters = left.text.isalpha() and (len(left.text) > 1 or left.folded in {"a", "i"})
    return letters and not (left.text[0].isupper() and right.text[0].isupper())


def _is_phrase(form: FormText, words: Sequence[Word]) -> bool:
    """Return whether an immediately repeated phrase is an error, and not an idiom or a list."""
    half = len(words) // 2
    if any(word.text[0].isdecimal() for word in words[:half]):
        return False
    if half == _PHRASE.start and not _IDIOMS.isdisjoint(word.folded for word in words[:half]):
        return False
    between = form.text[words[0].start : words[-1].end]
    seam = form.between(words[half - 1], words[half])
    if len({word.folded for word in words[:half]}) == 1:
        return False  # a single repeated word, which another check marks
    return seam.isspace() and not any(mark in between for mark in ".!?\n,;:")


def repeated_passages(form: FormText) -> Iterator[ErrorSpan]:
    """Yield sentences, and long runs of words, that occurred before."""
    folded = [word.folded for word in form.words]
    starts: dict[int, int] = {}
    copied_to = 0
    for at in range(len(folded) - _SENTENCE + 1):
        earlier = starts.setdefault(hash(tuple(folded[at : at + _SENTENCE])), at)
        if at < copied_to or earlier + _SENTENCE > at:
            continue
        length = _shared(folded, earlier, at=at)
        sentence = _is_sentence(form, at, length=length)
        if length >= _PASSAGE or sentence:
            copied_to = at + length
            yield form.mark(
                form.words[at].start,
                form.words[copied_to - 1].end,
                severity=4 if sentence else 3,
                category="repetition",
                explanation=f"These {length} words repeat an earlier passage.",
            )


def _shared(folded: Sequence[str], earlier: int, *, at: int) -> int:
    """Return how many words from `at` on equal those from `earlier` on."""
    length = 0
    while (
        at + length < len(folded)
        and earlier + length < at
        and folded[earlier + length] == folded[at + length]
    ):
        length += 1
    return length


def _is_sentence(form: FormText, at: int, *, length: int) -> bool:
    """Return whether the words are a complete sentence, with stops on both sides."""
    if length < _SENTENCE:
        return False
    start, end = form.words[at].start, form.words[at + length - 1].end
    before = form.text[max(0, start - 3) : start].rstrip(" \"'“‘`")
    after = form.text[end : end + 3].lstrip()
    return before[-1:] in {".", "!", "?", "\n"} and after[:1] in {".", "!", "?"}


CHECKS: tuple[Callable[[FormText], Iterator[ErrorSpan]], ...] = (
    articles,
    broken_off,
    debris,
    disagreement,
    doubled_marks,
    lower_case_starts,
    lower_i,
    misheard,
    missing_blanks,
    misspelt,
    repeated_passages,
    shouting,
    stray_blanks,
    stuttering,
    unclosed_quotes,
    unpaired_brackets,
)
"""Every check of the judge; add a new one here."""
