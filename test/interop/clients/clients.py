"""Checks of Python clients. The environment names HTTP_URL, HTTPS_URL, CA_FILE, and HAS_GRPC=1 where the interop service is served.

Prints a line for each check: state, client, check and reason, with tabs between them.
"""
import asyncio
import hashlib
import http.client
import importlib
import importlib.metadata
import json
import os
import platform
import ssl
from urllib.parse import urlsplit

HTTP, HTTPS, CA = os.environ["HTTP_URL"], os.environ["HTTPS_URL"], os.environ["CA_FILE"]
LARGE = 10 * 1024 * 1024
CONTENT = b"sallyport " * (LARGE // 10) + b"sallyport "[: LARGE % 10]


def trusting():
    """A context for one client: httpx writes its own ALPN protocols into the one that it gets."""
    return ssl.create_default_context(cafile=CA)


def expect_equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def run(client, checks):
    for check, function in checks.items():
        try:
            function()
            print("ok", client, check, sep="\t", flush=True)
        except Exception as error:  # Whatever a client raises is the result of its check.
            print("failed", client, check, " ".join(repr(error).split()), sep="\t", flush=True)


def of_package(package, checks):
    try:
        importlib.import_module("grpc" if package == "grpcio" else package)
    except ImportError:
        print("not installed", f"Python {package}", sep="\t", flush=True)
        return
    run(f"Python {package} {importlib.metadata.version(package)}", checks())


def expect_upload(text):
    expect_equal(json.loads(text)["sha256"], hashlib.sha256(CONTENT).hexdigest())


def http_client_checks():
    def connection(url):
        parts = urlsplit(url)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=30, context=trusting())
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)

    def exchange(open_connection, method, path, **options):
        open_connection.request(method, path, **options)
        response = open_connection.getresponse()
        body = response.read()
        expect_equal(response.status, 200)
        return body

    def keep_alive():
        one = connection(HTTP)
        exchange(one, "GET", "/")
        socket = one.sock
        exchange(one, "GET", "/")
        expect_equal(one.sock is socket and socket is not None, True)

    pieces = (CONTENT[at : at + 65536] for at in range(0, LARGE, 65536))
    return {
        "HTTP/1.1": lambda: exchange(connection(HTTP), "GET", "/"),
        "HTTPS": lambda: exchange(connection(HTTPS), "GET", "/"),
        "keep-alive": keep_alive,
        "upload of 10 MiB": lambda: expect_upload(exchange(connection(HTTP), "PUT", "/", body=CONTENT)),
        "chunked upload of 10 MiB": lambda: expect_upload(exchange(connection(HTTP), "PUT", "/", body=pieces, encode_chunked=True)),
        "download of 10 MiB": lambda: expect_equal(exchange(connection(HTTP), "GET", f"/bytes/{LARGE}") == CONTENT, True),
    }


def httpx_checks():
    import httpx

    def get(version, url, **options):
        with httpx.Client(verify=trusting(), timeout=30, **options) as client:
            for _ in range(3):
                response = client.get(url)
                expect_equal((response.status_code, response.http_version), (200, version))

    def upload(**options):
        with httpx.Client(timeout=60, **options) as client:
            expect_upload(client.post(HTTP, content=CONTENT).text)

    def download(**options):
        with httpx.Client(timeout=60, **options) as client:
            expect_equal(client.get(f"{HTTP}/bytes/{LARGE}").content == CONTENT, True)

    prior = {"http1": False, "http2": True}
    return {
        "HTTP/1.1": lambda: get("HTTP/1.1", HTTP),
        "HTTPS": lambda: get("HTTP/1.1", HTTPS),
        "HTTP/2, prior knowledge": lambda: get("HTTP/2", HTTP, **prior),
        "HTTP/2, TLS": lambda: get("HTTP/2", HTTPS, http2=True),
        "upload of 10 MiB": upload,
        "download of 10 MiB": download,
        "upload of 10 MiB, HTTP/2": lambda: upload(**prior),
        "download of 10 MiB, HTTP/2": lambda: download(**prior),
    }


def requests_checks():
    import requests

    def get(url):
        response = requests.get(url, verify=CA, timeout=30)
        expect_equal(response.status_code, 200)

    return {
        "HTTP/1.1": lambda: get(HTTP),
        "HTTPS": lambda: get(HTTPS),
        "upload of 10 MiB": lambda: expect_upload(requests.post(HTTP, data=CONTENT, timeout=60).text),
        "download of 10 MiB": lambda: expect_equal(requests.get(f"{HTTP}/bytes/{LARGE}", timeout=60).content == CONTENT, True),
    }


def aiohttp_checks():
    import aiohttp

    async def get(url):
        async with aiohttp.ClientSession() as session, session.get(url, ssl=trusting()) as response:
            expect_equal(response.status, 200)

    async def expecting():
        async with aiohttp.ClientSession() as session, session.put(HTTP, data=CONTENT, expect100=True) as response:
            expect_upload(await response.text())

    async def websocket(url):
        async with aiohttp.ClientSession() as session, session.ws_connect(url, ssl=trusting()) as socket:
            await socket.send_str("hello")
            expect_equal(await socket.receive_str(), "hello")

    return {
        "HTTP/1.1": lambda: asyncio.run(get(HTTP)),
        "HTTPS": lambda: asyncio.run(get(HTTPS)),
        "Expect: 100-continue": lambda: asyncio.run(expecting()),
        "WebSocket": lambda: asyncio.run(websocket(HTTP)),
        "WebSocket, TLS": lambda: asyncio.run(websocket(HTTPS)),
    }


def websockets_checks():
    from websockets.sync.client import connect

    def echo(url, **options):
        with connect(url.replace("http", "ws"), **options) as socket:
            for message in ("hello", b"\x00\xff" * 1000):
                socket.send(message)
                expect_equal(socket.recv(), message)
            socket.ping().wait(30)

    return {"WebSocket": lambda: echo(HTTP), "WebSocket, TLS": lambda: echo(HTTPS, ssl=trusting())}


def grpc_checks():
    import grpc

    def call(channel):
        # The messages of EmptyCall have no fields: their encoding is empty.
        with channel:
            method = channel.unary_unary("/grpc.testing.TestService/EmptyCall", lambda message: message, lambda message: message)
            expect_equal(method(b"", timeout=30), b"")
            try:
                channel.unary_unary("/grpc.testing.TestService/UnimplementedCall", lambda message: message, lambda message: message)(b"", timeout=30)
            except grpc.RpcError as error:
                expect_equal(error.code(), grpc.StatusCode.UNIMPLEMENTED)
            else:
                raise AssertionError("UnimplementedCall must fail")

    def credentials():
        with open(CA, "rb") as file:
            return grpc.ssl_channel_credentials(file.read())

    return {
        "gRPC": lambda: call(grpc.insecure_channel(urlsplit(HTTP).netloc)),
        "gRPC, TLS": lambda: call(grpc.secure_channel(urlsplit(HTTPS).netloc, credentials())),
    }


run(f"Python {platform.python_version()} http.client", http_client_checks())
of_package("httpx", httpx_checks)
of_package("requests", requests_checks)
of_package("aiohttp", aiohttp_checks)
of_package("websockets", websockets_checks)
if os.environ.get("HAS_GRPC") == "1":
    of_package("grpcio", grpc_checks)
