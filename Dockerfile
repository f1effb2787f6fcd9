# The service. Build it at a checkout: docker buildx build --platform linux/amd64,linux/arm64 -t spanjury .
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
# Without a compiler, numpy computes two of the metrics more slowly.
RUN python -m venv /opt/spanjury && /opt/spanjury/bin/pip install --no-cache-dir '.[serve]'

FROM python:3.12-slim
COPY --from=build /opt/spanjury /opt/spanjury
RUN useradd --uid 10001 --create-home --home-dir /var/lib/spanjury --shell /usr/sbin/nologin spanjury
USER 10001
ENV PATH=/opt/spanjury/bin:$PATH PYTHONUNBUFFERED=1
VOLUME /var/lib/spanjury
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
# It listens beyond the container, so it starts only with SPANJURY_SERVE_TOKEN or --token-file.
ENTRYPOINT ["spanjury", "serve", "--host", "0.0.0.0", "--port", "8765", "--state-dir", "/var/lib/spanjury/state"]
