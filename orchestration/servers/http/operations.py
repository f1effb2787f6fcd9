"""Lists of names for requests; health and metrics for operators."""

from fastapi import APIRouter, Response

from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.servers.http.answers import (
    AspectAnswer,
    Health,
    PanelAnswer,
    PanelList,
    TaskAnswer,
    TaskList,
)
from spanjury.orchestration.servers.http.metrics import CONTENT_TYPE
from spanjury.orchestration.servers.http.pages import problems
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.service import OpenPanel, Service


def operation_routes(service: Service) -> APIRouter:
    """Return the routes of lists and metrics."""
    router = APIRouter()
    tasks = _tasks(Catalogue.load(*service.settings.aspects_files))

    @router.get("/v1/judges", tags=["names"], responses=problems("service-starting"))
    async def judges() -> PanelList:
        """List the panels that requests can name, and their judges."""
        _ = service.jobs  # raises until all panels are open
        return PanelList(panels=[_panel(panel) for _, panel in sorted(service.panels.items())])

    @router.get("/v1/aspects", tags=["names"], responses=problems())
    async def aspects() -> TaskList:
        """List the tasks and aspects that requests can name."""
        return tasks

    @router.get(
        "/metrics",
        tags=["operation"],
        response_class=Response,
        responses={
            **problems(),
            200: {
                "description": "Figures for Prometheus.",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
        },
    )
    async def metrics() -> Response:
        """Return figures for Prometheus."""
        return Response(service.figures(), headers={"Content-Type": CONTENT_TYPE})

    return router


def health_routes(service: Service) -> APIRouter:
    """Return the routes of health checks."""
    router = APIRouter(tags=["operation"])

    @router.get("/healthz")
    async def healthz() -> Health:
        """Say that the process is up."""
        return Health(status="ok")

    @router.get(
        "/readyz", responses=problems("disk-not-writable", "service-starting", "service-closing")
    )
    async def readyz() -> Health:
        """Say whether requests are taken on: panels are open, and the service is to stay.

        After a batch could not be written, it says so until there is room again.
        """
        service.require_ready()
        if fault := await service.jobs.fault():
            raise ProblemError("disk-not-writable", fault)
        return Health(status="ok")

    return router


def _panel(opened: OpenPanel) -> PanelAnswer:
    panel = opened.panel
    return PanelAnswer(
        name=opened.name,
        judges=[seat.name for seat in panel.seats],
        aggregation="from-spans" if panel.span_score else panel.aggregation_name,
        signature=panel.signature,
    )


def _tasks(catalogue: Catalogue) -> TaskList:
    return TaskList(
        tasks=[
            TaskAnswer(
                name=task.name,
                aliases=list(task.aliases),
                input_headers=list(task.input_headers),
                aspects=[
                    AspectAnswer(
                        name=aspect.name,
                        definition=aspect.definition,
                        inputs=None if aspect.inputs is None else list(aspect.inputs),
                        is_default=aspect.name in task.default_aspects,
                    )
                    for aspect in catalogue.aspects(task.name)
                ],
            )
            for task in catalogue.tasks()
        ]
    )
