"""A capability of pydantic-ai: a panel reviews each step of an agent, whoever runs it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path

from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, ToolCallPart
from pydantic_ai.models import ModelRequestContext

from spanjury.judges.core import Aspect, check_arguments
from spanjury.orchestration.agents.conditions import (
    FAIL_ON,
    OnUnscored,
    feedback_on_unread,
    terms_of,
)
from spanjury.orchestration.agents.reviewing import Rejection, Review, areview
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.wiring.config import PanelConfig


class JuryCapability(AbstractCapability[object]):
    """Reviews calls before they are carried out, and answers before they are handed in.

    A call that fails is not carried out, nor are the calls beside it: the model gets the errors in
    place of the results. An answer that fails goes back to the model. Both count as retries of
    pydantic-ai, which raises `UnexpectedModelBehavior` once a tool's or the output's are used up.
    The arguments of an output tool are not judged here; `jury_validator` judges them.

    Parameters
    ----------
    panel
        An open panel, which is quicker, or a description of one that is opened for each review.
    judges, models, aspects_files
        As in `check`; without `panel`, `judges` and `models` the offline judges read the messages.
    task, aspects
        As in `areview`: `task` is that of the answers, and named `aspects` are those of both.
    fail_on
        Conditions as of ``--fail-on``; a step that meets one is sent back.
    on_unscored
        What to do if no condition holds, but no judge read the step, as in `jury_validator`.
    on_review
        Called with each review, as to keep or to show it.

    Raises
    ------
    ConfigError
        If a name is unknown, a condition cannot be read or is about an aspect that nothing is
        judged on, or the policy cannot be read.

    Examples
    --------
    ::

        agent = Agent(model, tools=tools, capabilities=[JuryCapability()], retries=2)
        done = await agent.run("Book a table for four on 8 May 2026.")
    """

    def __init__(  # noqa: PLR0913  all have defaults
        self,
        panel: Panel | PanelConfig | Path | str | None = None,
        *,
        judges: Judges = (),
        models: Models = (),
        task: str | None = None,
        aspects: str | Aspect | Sequence[str | Aspect] = (),
        fail_on: str | Sequence[str] = FAIL_ON,
        on_unscored: OnUnscored = "raise",
        aspects_files: Sequence[Path] = (),
        on_review: Callable[[Review], None] | None = None,
    ) -> None:
        # so that wrong terms are an error before the agent begins
        check_arguments(JuryCapability.__init__, locals())
        terms_of(task=task, aspects=aspects, fail_on=fail_on, aspects_files=aspects_files)
        self._review = partial(
            areview,
            panel=panel,
            judges=judges,
            models=models,
            task=task,
            aspects=aspects,
            fail_on=fail_on,
            aspects_files=aspects_files,
        )
        self._on_unscored = on_unscored
        self._on_review = on_review

    async def for_run(self, ctx: RunContext[object]) -> AbstractCapability[object]:  # noqa: ARG002
        """Return a capability for one run, which knows nothing of others."""
        return _ReviewedRun(self._review, self._on_unscored, self._on_review)


class _ReviewedRun(AbstractCapability[object]):
    """The reviews of one run: what they rejected so far, and the calls that wait no longer."""

    def __init__(
        self,
        review: Callable[..., Awaitable[Review]],
        on_unscored: OnUnscored,
        on_review: Callable[[Review], None] | None,
    ) -> None:
        self._review = review
        self._on_unscored = on_unscored
        self._on_review = on_review
        self._rejections: tuple[Rejection, ...] = ()
        self._reviewed: tuple[int, Sequence[ModelResponsePart]] = (0, ())
        """The number of messages before the last reviewed response, and its parts."""
        self._refused: dict[str, str] = {}
        """Id of a call that is not carried out -> what the model gets in place of a result."""

    async def after_model_request(
        self,
        ctx: RunContext[object],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Review a response; send it back with its errors if it is an answer that fails."""
        offered = request_context.model_request_parameters
        outputs = {tool.name for tool in offered.output_tools}
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        hands_in = bool(calls) and all(call.tool_name in outputs for call in calls)
        if hands_in or not (calls or response.text):
            return response
        since = sum(1 for _ in takewhile(lambda each: each.run_id != ctx.run_id, ctx.messages))
        if self._is_cut(ctx.messages):
            since, self._rejections = len(ctx.messages), ()
        self._reviewed = len(ctx.messages), response.parts
        review = await self._review(
            [*ctx.messages, response],
            tools=(*offered.function_tools, *offered.output_tools),
            since=since,
            after=self._rejections,
        )
        if self._on_review is not None:
            self._on_review(review)
        self._rejections = review.rejections
        feedback = [str(message["content"]) for message in review.messages]
        if not feedback and (unread := feedback_on_unread(review.unread, self._on_unscored)):
            feedback = [unread] * max(1, len(calls))
        if feedback and not calls:
            raise ModelRetry(*feedback)
        self._refused = dict(zip((call.tool_call_id for call in calls), feedback, strict=False))
        return response

    def _is_cut(self, messages: Sequence[ModelMessage]) -> bool:
        """Return whether a history processor took messages from before the last review away."""
        at, parts = self._reviewed
        return bool(parts) and (len(messages) <= at or messages[at].parts != parts)

    async def after_tool_validate(
        self,
        ctx: RunContext[object],  # noqa: ARG002
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,  # noqa: ARG002
        args: dict[str, object],
    ) -> dict[str, object]:
        """Carry a call out, or ask for its approval, only if its turn has nothing that fails."""
        if feedback := self._refused.get(call.tool_call_id):
            raise ModelRetry(feedback)
        return args
