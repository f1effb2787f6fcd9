"""`spanjury align`: sharpen an aspect's definition, and keep it if held-out marks improve."""

from pathlib import Path
from typing import Annotated

import anyio
import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.panel import ModelBaseUrls

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services.people import align as aligning
    from spanjury.orchestration.wiring import config as configs


def align(
    *,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of a run.")],
    aspect: Annotated[str, Flag("Aspect to define more sharply.")],
    model: Annotated[
        str | None,
        Flag("Model that writes the definition; by default the first of the run's panel."),
    ] = None,
    model_base_url: ModelBaseUrls = (),
    output: Annotated[
        Path, Flag("TOML file for the definition, to use with --aspects-file.", "FILE", also="-o")
    ] = Path("aligned.toml"),
    data: Annotated[
        Path | None, Flag("File of the judged texts, if the run's own has moved.", "FILE")
    ] = None,
) -> None:
    """Propose a sharper definition of an aspect where people and the run's panel disagree.

    Half of the sources that people marked are shown to the model. The panel judges the other half
    by the new definition, which is written only if the scores come closer to people's.
    """
    named = configs.ModelConfig(name=model, base_url=model_base_url or None) if model else None

    async def work() -> "aligning.Alignment":
        return await aligning.align(run, aspect=aspect, model=named, data=data)

    done = anyio.run(work)
    console.print_table(
        ("definition", "distance from people"),
        [["present", f"{done.before:.3f}"], ["proposed", f"{done.after:.3f}"]],
    )
    say(f"proposed: {done.aspect.definition}")
    say(
        f"gain on {done.texts} texts of {done.sources} held-out sources: {done.gain:.3f}"
        f" [{done.low:.3f}, {done.high:.3f}] of the scale"
    )
    if done.unscored:
        say(f"{done.unscored} held-out texts got no score by the proposed definition")
    if done.is_better:
        aligning.write_aspect(done.aspect, output)
        say(f"written: {output}; use it with --aspects-file {output}")
    else:
        say("nothing was written: no gain on the held-out texts was shown")
