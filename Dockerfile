# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# One image per binary: docker build --build-arg BINARY=butler-bootstrap .
# internal/image runs the same `make` command in a test, without Docker.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG BINARY
ARG VERSION=v0.1.0-dev
ARG COMMIT=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    make build-one BINARY=${BINARY} VERSION=${VERSION} COMMIT=${COMMIT}

FROM gcr.io/distroless/static-debian12:nonroot
ARG BINARY
COPY --from=build /src/bin/${BINARY} /butler
USER 65532:65532
ENTRYPOINT ["/butler"]
