# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# One image per binary: docker build --build-arg BINARY=butler-bootstrap .
# The image has the files and the settings of `butleradm images build`. internal/image
# runs the same `make` command in a test, without Docker, and compares.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG BINARY
ARG VERSION=v0.1.0-dev
ARG COMMIT=unknown
ARG DATE=unknown
ARG ROOTFS=/rootfs
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    make rootfs BINARY=${BINARY} VERSION=${VERSION} COMMIT=${COMMIT} DATE=${DATE} ROOTFS=${ROOTFS}

FROM scratch
COPY --from=build /rootfs/ /
ENV PATH=/ HOME=/home/nonroot SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/butler"]
