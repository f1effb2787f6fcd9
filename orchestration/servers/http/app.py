"""The applications: their routes, behind the gate and the limits of bodies."""

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from spanjury.judges.core.lazy import Once
from spanjury.orchestration.servers.http.batches import batch_routes
from spanjury.orchestration.servers.http.bodies import BoundedBodies
from spanjury.orchestration.servers.http.check_stream import stream_routes
from spanjury.orchestration.servers.http.checks import DirectChecks, check_routes
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.operations import health_routes, operation_routes
from spanjury.orchestration.servers.http.pages import describe
from spanjury.orchestration.servers.http.problems import (
    ProblemError,
    answer_http_error,
    answer_invalid,
    answer_problem,
    answer_quota,
)
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.services.serving.quotas import QuotaError


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
    app.add_exception_handler(QuotaError, answer_quota)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(Exception, _answer_failure)
    for router in routers:
        app.include_router(router)
    return app


def _answer_failure(_: Request, __: Exception) -> Response:
    """Answer an unexpected error; the gate logs it."""
    return ProblemError("internal-error").response()
