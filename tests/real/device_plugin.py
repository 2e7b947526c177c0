"""A device plugin for tests: advertises the device ids it is given to the kubelet of a folder.

    /usr/bin/python3 device_plugin.py FOLDER RESOURCE=ID,ID... [RESOURCE=ID,...]

Speaks deviceplugin v1beta1 (https://github.com/kubernetes/kubelet/blob/v0.20.2/pkg/apis/deviceplugin/v1beta1/api.proto)
with Debian's python3-grpcio and messages written by hand. A kubelet that starts empties its folder and makes its socket
anew: the plugin sees that and registers again, as the protocol asks. A container is told its devices by
NVIDIA_VISIBLE_DEVICES, which is how a test knows what it really has.
"""
import sys
import threading
import time
from concurrent import futures
from pathlib import Path

import grpc

from protobuf import field, fields


class Plugin:
    def __init__(self, folder, resource, ids):
        self.resource, self.ids = resource, ids.split(",")
        self.endpoint = resource.replace("/", "_") + ".sock"
        self.folder = folder
        self.server = None

    def options(self, _request, _context):
        return b""

    def list_and_watch(self, _request, context):
        # ListAndWatchResponse{devices=1: Device{ID=1, health=2}}
        yield b"".join(field(1, field(1, one) + field(2, "Healthy")) for one in self.ids)
        gone = threading.Event()
        context.add_callback(gone.set)
        gone.wait()

    def allocate(self, request, _context):
        # AllocateRequest{container_requests=1{devicesIDs=1}} -> AllocateResponse{container_responses=1{envs=1{key=1, value=2}}}
        answer = b""
        for _, container in fields(request):
            ids = ",".join(payload.decode() for _, payload in fields(container))
            print(f"allocate {self.resource} {ids}", flush=True)
            answer += field(1, field(1, field(1, "NVIDIA_VISIBLE_DEVICES") + field(2, ids)))
        return answer

    def serve(self):
        if self.server:
            self.server.stop(0).wait()
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1beta1.DevicePlugin", {
            "GetDevicePluginOptions": grpc.unary_unary_rpc_method_handler(self.options),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(self.list_and_watch),
            "Allocate": grpc.unary_unary_rpc_method_handler(self.allocate),
        }),))
        self.server.add_insecure_port(f"unix:{self.folder / self.endpoint}")
        self.server.start()

    def register(self):
        self.serve()
        # RegisterRequest{version=1, endpoint=2, resource_name=3}
        request = field(1, "v1beta1") + field(2, self.endpoint) + field(3, self.resource)
        with grpc.insecure_channel(f"unix:{self.folder}/kubelet.sock") as channel:
            channel.unary_unary("/v1beta1.Registration/Register")(request, timeout=5)
        print(f"registered {self.resource} with {len(self.ids)} devices", flush=True)


def main():
    folder = Path(sys.argv[1])
    plugins = [Plugin(folder, *argument.split("=", 1)) for argument in sys.argv[2:]]
    known = None
    while True:
        try:
            socket = (folder / "kubelet.sock").stat()
            now = (socket.st_ino, socket.st_ctime_ns)
            if now != known:
                for plugin in plugins:
                    plugin.register()
                known = now
        except (OSError, grpc.RpcError) as error:
            print(f"no kubelet yet: {type(error).__name__}", flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
