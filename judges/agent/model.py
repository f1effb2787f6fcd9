"""One pydantic-ai model over any `ChatModel`, so that agents pass the same gateway.

It promises that a conversation reaches `ChatModel.complete` byte for byte as the agent
holds it, and that a `ModelError` comes out of the agent's run as it was raised.
"""

from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from spanjury.judges.agent.messages import to_messages, to_response, to_tools
from spanjury.judges.core import ChatModel, ChatRequest, Decoding, Finish, ModelRefusedError

_LIKELIEST = Decoding()


class AgentModel(Model[None]):
    """A pydantic-ai model that asks a `ChatModel`.

    Parameters
    ----------
    decoding
        How every reply is drawn, the likeliest by default; the settings of an agent or a
        run are not looked at.
    """

    def __init__(self, model: ChatModel, *, decoding: Decoding = _LIKELIEST) -> None:
        super().__init__()
        self._model = model
        self._decoding = decoding

    @property
    def model_name(self) -> str:
        """The signature of the `ChatModel`."""
        return self._model.signature

    @property
    def system(self) -> str:
        """The provider, as pydantic-ai understands it: ours, whatever model is behind us."""
        return "spanjury"

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,  # noqa: ARG002 - inherited
    ) -> list[ModelMessage]:
        """Return `messages` as they are.

        pydantic-ai would break up marks such as ``<|im_end|>`` and add notes about texts that
        contain ``<system>`` or ``<pyai:``; a judged text may contain any of them, and must be
        judged as it stands.
        """
        return messages

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask the `ChatModel`.

        Raises `ModelError` as the `ChatModel` does, `ModelRefusedError` for a reply that is a
        refusal, which asking again would only repeat, and `ConfigError` if a message holds
        something that cannot be said in text.
        """
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        instructions = InstructionPart.join(parameters.instruction_parts or []) or ""
        tools = [*parameters.declared_function_tools, *parameters.output_tools]
        request = ChatRequest(
            messages=to_messages(messages, instructions=instructions),
            decoding=self._decoding,
            tools=to_tools(tools),
        )
        reply = await self._model.complete(request)
        if reply.finish is Finish.REFUSAL:
            raise ModelRefusedError("the model declined to answer")
        return to_response(reply, model_name=self.model_name, turn=len(messages))
