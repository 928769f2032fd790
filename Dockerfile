# A container image with the one binary, run as an ordinary user. Build it with `docker build -t pilothouse .`
FROM rust:1.95-slim-bookworm AS build
# pkg-config, perl and libssl are not needed: TLS is rustls. Node lays out the site and runs wasm-opt.
# hadolint ignore=DL3008 # Debian's stable release only changes these for fixes
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates nodejs npm gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The tools first: they change rarely, and their layer is kept.
COPY dev Cargo.toml Cargo.lock ./
COPY tools tools
RUN ./dev setup wasm wasm-bindgen wasm-opt
COPY . .
RUN ./dev build

FROM debian:bookworm-slim
# Certificates of public authorities, for identity providers; the cluster's own come with its service account.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/target/release/pilothouse /usr/local/bin/pilothouse
# No name, no home, no shell: a number is what Kubernetes' runAsNonRoot can judge.
USER 65532:65532
EXPOSE 7373
ENTRYPOINT ["/usr/local/bin/pilothouse"]
