# SPDX-License-Identifier: BSD-3-Clause

"""Connections with TLS, whose records can be changed on their way."""

import pathlib
import shutil
import ssl
import subprocess

from wire import Connection, Ended, Violation


class SecureConnection(Connection):
    """Connection of a client that speaks TLS.

    Its bytes pass through memory, not through a socket of Python's `ssl`: so
    its records can be changed, held back and repeated, and either side can end
    its half. The end of a half is a close_notify here; `cut` is that of TCP.
    """

    def __init__(self, port, context, timeout=20, receive_buffer=0,
                 session=None, deliver=None):
        """
        @param deliver sends a flight of the handshake, of which it is given the
                       number and the bytes, over this connection.
        """
        super().__init__(port, timeout, receive_buffer)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing,
                                    server_hostname="localhost",
                                    session=session)
        self.unsent = b""
        self.has_goodbye = False  # of the server
        self.alert = None  # reason of its other end
        try:
            self.shake_hands(deliver or SecureConnection.deliver)
        except BaseException:
            self.socket.close()
            raise

    def deliver(self, _, data):
        self.send_raw(data)

    def shake_hands(self, deliver):
        """Makes a handshake. Raises `Ended` if the server ends it."""
        flight = 0
        while True:
            try:
                self.tls.do_handshake()
                is_done = True
            except ssl.SSLWantReadError:
                is_done = False
            except ssl.SSLError as x:
                self.alert = x.reason
                raise Ended from x
            if self.outgoing.pending:
                deliver(self, flight, self.outgoing.read())
                flight += 1
            if is_done:
                return
            if not (part := self.receive()):
                raise Ended
            self.incoming.write(part)

    def encrypt(self, data):
        """Returns the records of some bytes."""
        self.tls.write(data)
        return self.outgoing.read()

    def send(self, data):
        if not data:  # has no record
            return True
        try:
            return self.send_raw(self.encrypt(data))
        except ssl.SSLError:  # the server has ended the connection
            return False

    def send_raw(self, data):
        """Sends bytes as they are."""
        return super().send(data)

    def send_some(self, data):
        result = 0
        if not self.unsent:
            result = self.tls.write(data[:1 << 14])
            self.unsent = self.outgoing.read()
        self.unsent = self.unsent[self.socket.send(self.unsent):]
        return result

    def fill(self):
        size = len(self.buffer)
        while len(self.buffer) == size:
            if self.has_goodbye or self.alert or not (part := self.receive()):
                raise Ended
            self.incoming.write(part)
            self.decrypt()

    def decrypt(self):
        """Reads all records that have come."""
        try:
            while part := self.tls.read(1 << 18):
                self.buffer += part
            self.has_goodbye = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.has_goodbye = True
        except ssl.SSLError as x:
            self.alert = x.reason
        if self.outgoing.pending:  # the update of a key
            self.send_raw(self.outgoing.read())

    def say_goodbye(self):
        try:
            self.tls.unwrap()
        except ssl.SSLError:  # no goodbye has come yet
            pass
        if self.outgoing.pending:
            self.send_raw(self.outgoing.read())

    half_close = say_goodbye

    def cut(self):
        """Ends this half without a goodbye."""
        super().half_close()

    def close(self):
        if self.socket.fileno() >= 0:
            self.say_goodbye()
        super().close()


class Certificate:
    """Certificate of a server, signed by itself."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder) / "attacked.crt"
        self.key = pathlib.Path(folder) / "attacked.key"
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
             "-keyout", self.key, "-out", self.file], capture_output=True)
        if made.returncode:
            raise Violation("no certificate can be made: "
                            + made.stderr.decode(errors="replace"))

    def options(self):
        """Returns the options of a server."""
        return "--tls-certificate", str(self.file), "--tls-key", str(self.key)

    def context(self, version=None):
        """Returns a context of clients.

        @param version the only one that they speak.
        """
        result = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        result.load_verify_locations(self.file)
        if version is not None:
            result.minimum_version = result.maximum_version = version
        return result


def has_openssl():
    return shutil.which("openssl") is not None


def client_hello(context, name="localhost"):
    """Returns the first record of a client."""
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()
