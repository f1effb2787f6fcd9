"""The application: its routes, behind the gate and the bounds of bodies."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from spanjury.judges.core.lazy import Once
from spanjury.orchestration.servers.http.batches import batch_routes
from spanjury.orchestration.servers.http.bodies import BoundedBodies
from spanjury.orchestration.servers.http.checks import check_routes
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.operations import operation_routes
from spanjury.orchestration.servers.http.pages import describe
from spanjury.orchestration.servers.http.problems import (
    ProblemError,
    answer_http_error,
    answer_invalid,
    answer_problem,
)
from spanjury.orchestration.servers.http.service import Service


def create_app(service: Service) -> ASGIApp:
    """Return the application over a service, which is held open elsewhere."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.add_exception_handler(ProblemError, answer_problem)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(Exception, _answer_failure)
    for routes in (check_routes, batch_routes, operation_routes):
        app.include_router(routes(service))
    page = Once(lambda: describe(app))

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> dict[str, object]:
        return dict(page.get())

    return Gate(BoundedBodies(app, limits=service.settings.limits), service=service)


def _answer_failure(_: Request, __: Exception) -> Response:
    """Answer what should not happen; the gate logs it."""
    return ProblemError("internal-error").response()
