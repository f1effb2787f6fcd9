"""The applications: all routes behind the gate, with those for names, health and figures."""

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from spanjury.judges.core.lazy import Once
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.servers.http import answers
from spanjury.orchestration.servers.http.batches import batch_routes
from spanjury.orchestration.servers.http.bodies import BoundedBodies
from spanjury.orchestration.servers.http.check_stream import stream_routes
from spanjury.orchestration.servers.http.checks import DirectChecks, check_routes
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.metrics import CONTENT_TYPE
from spanjury.orchestration.servers.http.pages import describe, problems, texts
from spanjury.orchestration.servers.http.problems import (
    ProblemError,
    answer_http_error,
    answer_invalid,
    answer_problem,
)
from spanjury.orchestration.servers.http.service import OpenPanel, Service


def create_app(service: Service) -> Gate:
    """Return the application for a service, which the caller keeps open."""
    app = unguarded_app(service)
    page = Once(lambda: describe(app))

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> dict[str, object]:
        return dict(page.get())

    checks = DirectChecks(app, service=service)
    return Gate(BoundedBodies(checks, limits=service.settings.limits), service=service)


def unguarded_app(service: Service) -> FastAPI:
    """Return the routes of a service without its gate, to describe them."""
    routes = (check_routes, stream_routes, batch_routes, operation_routes, health_routes)
    return _framed(*(made(service) for made in routes))


def create_health_app(service: Service) -> Gate:
    """Return an application that only reports the health of a service."""
    return Gate(_framed(health_routes(service)), service=service)


def _framed(*routers: APIRouter) -> FastAPI:
    app = FastAPI(
        openapi_url=None,
        docs_url=None,  # these pages would load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.add_exception_handler(ProblemError, answer_problem)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(Exception, _answer_failure)
    for router in routers:
        app.include_router(router)
    return app


def _answer_failure(_: Request, __: Exception) -> Response:
    """Answer an unexpected error; the gate logs it."""
    return ProblemError("internal-error").response()


def operation_routes(service: Service) -> APIRouter:
    """Return the routes of lists and metrics."""
    router = APIRouter()
    tasks = _tasks(Catalogue.load(*service.settings.batches.aspects_files))

    @router.get("/v1/judges", tags=["names"], responses=problems("service-starting"))
    async def judges() -> answers.PanelList:
        """List the panels that requests can name, and their judges."""
        _ = service.jobs  # raises until all panels are open
        return answers.PanelList(
            panels=[_panel(panel) for _, panel in sorted(service.panels.items())]
        )

    @router.get("/v1/aspects", tags=["names"], responses=problems())
    async def aspects() -> answers.TaskList:
        """List the tasks and aspects that requests can name."""
        return tasks

    @router.get(
        "/metrics",
        tags=["operation"],
        response_class=Response,
        responses={**problems(), **texts("Figures for Prometheus.", "text/plain")},
    )
    async def metrics() -> Response:
        """Return figures for Prometheus."""
        return Response(service.figures(), headers={"Content-Type": CONTENT_TYPE})

    return router


def health_routes(service: Service) -> APIRouter:
    """Return the routes of health checks."""
    router = APIRouter(tags=["operation"])

    @router.head("/healthz", include_in_schema=False)  # as load balancers ask
    @router.get("/healthz")
    async def healthz() -> answers.Health:
        """Say that the process is up."""
        return answers.Health(status="ok")

    @router.head("/readyz", include_in_schema=False)
    @router.get(
        "/readyz", responses=problems("disk-not-writable", "service-starting", "service-closing")
    )
    async def readyz() -> answers.Health:
        """Say whether requests are taken on: panels are open, and the service is to stay.

        After a batch could not be written, it says so until there is room again.
        """
        service.require_ready()
        if fault := await service.jobs.fault():
            raise ProblemError("disk-not-writable", fault)
        return answers.Health(status="ok")

    return router


def _panel(opened: OpenPanel) -> answers.PanelAnswer:
    panel = opened.panel
    return answers.PanelAnswer(
        name=opened.name,
        judges=[seat.name for seat in panel.seats],
        aggregation="from-spans" if panel.span_score else panel.aggregation_name,
        signature=panel.signature,
    )


def _tasks(catalogue: Catalogue) -> answers.TaskList:
    return answers.TaskList(
        tasks=[
            answers.TaskAnswer(
                name=task.name,
                aliases=list(task.aliases),
                input_headers=list(task.input_headers),
                aspects=[
                    answers.AspectAnswer(
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
