"""Every kind of page: the command that makes it, and the picture that the gallery shows of it.

One more page is one more `Shot` in `SHOTS`; `just gallery` then takes its picture and writes
docs/gallery.md again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PANEL = "--judge grounding --judge form"
RUN = f"evaluate summaries.jsonl {PANEL} --aspect consistency --aspect fluency --run-dir"
DAMAGED = "perturb good.jsonl --recipe standard --limit 40 -o damaged.jsonl"
"""The first command, whose texts are scored."""
BEFORE = (
    f"{RUN} run",
    f"{RUN} later --judge reader",
    "evaluate scored.jsonl --panel panel.toml --aspect consistency --run-dir jury",
    "sample jury -n 80 -o marked.jsonl",
    "metrics score summaries.jsonl --metric rouge-l --metric chrf -o scores.jsonl",
    f"exam discernment good.jsonl --limit 20 {PANEL} --judge reader -o other",
)
"""Commands whose results the pages are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A page, and what is to be seen of it.

    Parameters
    ----------
    name
        Of the picture.
    says
        A sentence on what the page is for.
    command
        Makes the page; without ``spanjury``. ``{server}`` stands for the address of a model.
    page
        The file that it makes; empty for a page that it serves until it is ended.
    at
        Selects the element that the picture begins with; empty for the top of the page.
    scheme
        Whether the picture is of the page in the light or in the dark.
    keys
        Pressed one after the other before the picture is taken; for pages of runs.
    annotator
        Begins to mark under this name before that; for pages that are served.
    """

    name: str
    title: str
    says: str
    command: str
    page: str
    at: str = ""
    scheme: Literal["light", "dark"] = "light"
    keys: str = ""
    annotator: str = ""


SHOTS = (
    Shot(
        name="view",
        title="A run",
        says="Texts with their error spans, the evidence in the source, and each seat's report.",
        command="view later --html view.html",
        page="view.html",
        keys="jjn",
    ),
    Shot(
        name="view-two",
        title="Two runs side by side",
        says="Which spans do both mark, which only one, and how far do their scores differ?",
        command="view run later --html two.html",
        page="two.html",
        scheme="dark",
        keys="jj",
    ),
    Shot(
        name="runs",
        title="Many runs",
        says="All runs of a folder, with their scores and costs.",
        command="view . --title 'Runs of a week' --html list.html",
        page="list.html",
    ),
    Shot(
        name="marking",
        title="People's marks",
        says="Accept or reject judges' spans, mark what they overlooked, and give a score.",
        command="view run",
        page="",
        keys="djnan",
        annotator="Anna",
    ),
    Shot(
        name="guideline",
        title="Guideline for annotators",
        says="How to mark, how severe an error is, and what each aspect means.",
        command="marks guideline run -o guideline.html",
        page="guideline.html",
        scheme="dark",
    ),
    Shot(
        name="discernment",
        title="Exam of discernment",
        says="Good texts are damaged: how often does the judge notice, at 10 % false alarms?",
        command=f"exam discernment good.jsonl --limit 20 {PANEL} -o discernment",
        page="discernment/report.html",
        at="#what-it-discerns",
    ),
    Shot(
        name="discernment-pictures",
        title="Its pictures",
        says="They are part of the page, and also files in the folder `pictures` beside it.",
        command=f"exam discernment good.jsonl --limit 20 {PANEL} -o discernment",
        page="discernment/report.html",
        at="#pictures",
        scheme="dark",
    ),
    Shot(
        name="faithfulness",
        title="Exam of faithfulness",
        says="The judge's error lists are changed: do its scores follow?",
        command=f"exam faithfulness summaries.jsonl {PANEL} -o faithfulness",
        page="faithfulness/report.html",
    ),
    Shot(
        name="robustness",
        title="Exam of robustness",
        says="Flawed texts get attacks added: is the judge deceived?",
        command=f"exam robustness good.jsonl --limit 12 {PANEL} -o robustness",
        page="robustness/report.html",
        scheme="dark",
    ),
    Shot(
        name="repair",
        title="Exam of repair",
        says="Errors are planted and repaired: which are gone, and what did the repair harm?",
        command="exam repair good.jsonl --limit 6 --judge grounding --examiner form.toml"
        " --repair-model openai-compatible/writer --repair-base-url {server} -o repair",
        page="repair/report.html",
    ),
    Shot(
        name="card",
        title="Card of a judge",
        says="All exams of one judge on one page.",
        command="exam card discernment robustness faithfulness --html card.html",
        page="card.html",
    ),
    Shot(
        name="exam-compare",
        title="Two judges compared",
        says="Which of two judges notices more of the same damage?",
        command="exam compare discernment other --html judges.html",
        page="judges.html",
    ),
    Shot(
        name="span-bench",
        title="Span bench",
        says="Spans and decisions compared with people's marks and with trivial baselines.",
        command=f"bench spans damaged.jsonl {PANEL} -o span-bench",
        page="span-bench/report.html",
    ),
    Shot(
        name="meta",
        title="Agreement with people",
        says="How far do judges and metrics agree with people?",
        command="meta run scores.jsonl --human summaries.jsonl --html meta.html",
        page="meta.html",
    ),
    Shot(
        name="meta-pictures",
        title="Its pictures",
        says="One page contains them all.",
        command="meta run scores.jsonl --human summaries.jsonl --html meta.html",
        page="meta.html",
        at="#pictures",
        scheme="dark",
    ),
    Shot(
        name="calibration",
        title="Calibration of a panel",
        says="Scores on people's scale, and thresholds with guaranteed error rates: do they work?",
        command="calibrate jury --human scored.jsonl --html calibration.html",
        page="calibration.html",
    ),
    Shot(
        name="panel-study",
        title="Which seats",
        says="What does each seat of a panel add, and which panels are worth their cost?",
        command="panel study jury --human scored.jsonl --html seats.html",
        page="seats.html",
        at="#cost-and-agreement",
    ),
    Shot(
        name="cascade",
        title="Cascades",
        says="Cheap seats judge first: how far do cascades agree with people, and at what cost?",
        command="panel cascade jury --human scored.jsonl --html cascade.html",
        page="cascade.html",
        at="#agreement-with-people",
        scheme="dark",
    ),
    Shot(
        name="ranking",
        title="Systems ranked",
        says="Which systems differ, according to the panel on all texts and people on some?",
        command="rank jury --human marked.jsonl --html ranking.html",
        page="ranking.html",
    ),
    Shot(
        name="compare",
        title="Two runs compared",
        says="Did the scores change, text by text?",
        command="compare run later --html runs.html",
        page="runs.html",
    ),
    Shot(
        name="gate",
        title="Gate of a distilled judge",
        says="Does a trained judge meet the requirements? This one has learnt nothing.",
        command="distil gate model --data set --no-base --judge form -o gate",
        page="gate/gate.html",
    ),
    Shot(
        name="ngrams",
        title="What ROUGE-2 and BLEU see",
        says="The n-grams that a text shares with its references.",
        command="metrics show summaries.jsonl --row harbour-bridge/system-b --metric rouge-2"
        " -o ngrams.html",
        page="ngrams.html",
    ),
    Shot(
        name="alignment",
        title="What ROUGE-L sees",
        says="The longest common subsequence.",
        command="metrics show summaries.jsonl --row harbour-bridge/system-b --metric rouge-l"
        " -o alignment.html",
        page="alignment.html",
    ),
    Shot(
        name="flow",
        title="What WMD and MoverScore see",
        says="Which words are moved to which, and how far.",
        command="metrics show summaries.jsonl --row harbour-bridge/system-b"
        " --metric wmd:model=encoder -o flow.html",
        page="flow.html",
        scheme="dark",
    ),
    Shot(
        name="heat-map",
        title="What BERTScore sees",
        says="How similar the tokens of a text are to those of its reference.",
        command="metrics show summaries.jsonl --row harbour-bridge/system-b"
        " --metric bertscore:model=encoder -o map.html",
        page="map.html",
    ),
)

_HEAD = """\
# Pages

Commands write their findings as a page: one HTML file that loads nothing from the network and runs
only its own script. It fits a phone, and is dark if the reader's system is. Commands that write a
folder put the page there, with the same findings as Markdown and JSON. `--html FILE.html` writes
only the page, or a second copy of it.

The texts of these pages are `examples/summaries.jsonl` and, as `good.jsonl`, those of `--demo`.
`scored.jsonl` has damaged versions of the latter for four systems, with scores that follow from
the damage. The two models of `jury` are scripts. `just gallery` renews all pages and pictures.
"""


def gallery_markdown(shots: Sequence[Shot]) -> str:
    """Return the page of the gallery."""
    parts = [_HEAD]
    for shot in shots:
        command = shot.command.format(server="http://localhost:8000/v1")
        parts.append(
            f"## {shot.title}\n\n{shot.says}\n\n```sh\nspanjury {command}\n```\n\n"
            f"![{shot.title}](gallery/{shot.name}.png)\n"
        )
    return "\n".join(parts)
