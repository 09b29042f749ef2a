"""Serves A2A with grpcio until its standard input ends. Prints its port.

The text of a message selects the response: `refuse` and `crash` are errors, `compress` is answered with compressed bytes,
`break` ends a stream with an error, and all other messages are answered with a completed task.
Argument: the version of the protocol.
"""

import sys
from concurrent import futures

import grpc
from google.protobuf import any_pb2, json_format
from google.rpc import error_details_pb2, status_pb2

version = sys.argv[1]
if version == "1.0":
    import a2a_1_0_pb2 as a2a
    import a2a_1_0_pb2_grpc as services
else:
    import a2a_0_3_pb2 as a2a
    import a2a_0_3_pb2_grpc as services


def message_of(request):
    return request.message if version == "1.0" else request.request


def parts_of(message):
    return message.parts if version == "1.0" else message.content


def status(state):
    value = a2a.TaskStatus(state=state)
    value.timestamp.FromJsonString("2026-01-02T03:04:05.678Z")
    return value


def refuse(context, code, reason, text, fields=()):
    """Ends a call with a status that has details, as grpcio-status does."""
    details = [error_details_pb2.ErrorInfo(reason=reason, domain="a2a-protocol.org", metadata={"taskId": "nothing"})]
    if fields:
        violations = [error_details_pb2.BadRequest.FieldViolation(field=each, description="bad") for each in fields]
        details.append(error_details_pb2.BadRequest(field_violations=violations))
    packed = []
    for each in details:
        packed.append(any_pb2.Any())
        packed[-1].Pack(each)
    rich = status_pb2.Status(code=code.value[0], message=text, details=packed)
    context.set_trailing_metadata((("grpc-status-details-bin", rich.SerializeToString()),))
    context.abort(code, text)


class Agent(services.A2AServiceServicer):
    def __init__(self):
        self.tasks = {}

    def SendMessage(self, request, context):
        message = message_of(request)
        text = parts_of(message)[0].text
        if text == "refuse":
            refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PARAMS", "Ungültig: 100 %", ["message.parts"])
        if text == "crash":
            raise RuntimeError("the secret of the house")
        if text == "compress":
            context.set_compression(grpc.Compression.Gzip)
        task = a2a.Task(id=f"t-{message.message_id}", context_id="c", status=status(a2a.TASK_STATE_COMPLETED))
        artifact = task.artifacts.add(artifact_id="a", name="answer")
        artifact.parts.extend(parts_of(message))
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        json_format.ParseDict({"received": metadata, "list": [1, None, {"x": True}]}, task.metadata)
        self.tasks[task.id] = task
        return a2a.SendMessageResponse(task=task)

    def SendStreamingMessage(self, request, context):
        name = {"task_id": "s", "context_id": "c"}
        yield a2a.StreamResponse(task=a2a.Task(id="s", context_id="c", status=status(a2a.TASK_STATE_WORKING)))
        for index in range(3):
            artifact = a2a.Artifact(artifact_id="a", parts=[a2a.Part(text=str(index))])
            update = a2a.TaskArtifactUpdateEvent(
                artifact=artifact, append=index > 0, last_chunk=index == 2, **name
            )
            yield a2a.StreamResponse(artifact_update=update)
        if parts_of(message_of(request))[0].text == "break":
            refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "UNSUPPORTED_OPERATION", "Not this one")
        final = {} if version == "1.0" else {"final": True}
        done = a2a.TaskStatusUpdateEvent(status=status(a2a.TASK_STATE_COMPLETED), **name, **final)
        yield a2a.StreamResponse(status_update=done)

    def GetTask(self, request, context):
        task_id = request.id if version == "1.0" else request.name.removeprefix("tasks/")
        if task_id not in self.tasks:
            refuse(context, grpc.StatusCode.NOT_FOUND, "TASK_NOT_FOUND", "Task not found: nothing")
        return self.tasks[task_id]


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    services.add_A2AServiceServicer_to_server(Agent(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(0).wait()


main()
