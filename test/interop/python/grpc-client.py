"""Calls an A2A server with grpcio. Prints the result of each call as one JSON object.

Arguments: the version of the protocol, the address of a server, the address of a server that requires a token, the token.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_health import health_pb2, health_pb2_grpc
from grpc_reflection import reflection_pb2, reflection_pb2_grpc

version, address, protected_address, token = sys.argv[1:]
if version == "1.0":
    import a2a_1_0_pb2 as a2a
    import a2a_1_0_pb2_grpc as services
else:
    import a2a_0_3_pb2 as a2a
    import a2a_0_3_pb2_grpc as services

# Bounds a call that hangs.
LIMIT = 60
WEBHOOK = "https://hooks.example.com/"
MESSAGE_COUNT = 0


def to_json(message):
    return json_format.MessageToDict(message, including_default_value_fields=False)


def send_request(text, part=None, **configuration):
    global MESSAGE_COUNT
    MESSAGE_COUNT += 1
    parts = [part or a2a.Part(text=text)]
    fields = {"message_id": f"m-{MESSAGE_COUNT}", "role": a2a.ROLE_USER}
    if version == "1.0":
        message = {"message": a2a.Message(parts=parts, **fields)}
    else:
        message = {"request": a2a.Message(content=parts, **fields)}
        configuration = {"blocking": True, **configuration}
    return a2a.SendMessageRequest(configuration=a2a.SendMessageConfiguration(**configuration), **message)


def task_request(request_type, task_id, **more):
    """The request for a task: 1.0 has its id, 0.3 the name of a resource."""
    return request_type(id=task_id, **more) if version == "1.0" else request_type(name=f"tasks/{task_id}", **more)


def file_part(content):
    if version == "1.0":
        return a2a.Part(raw=content, filename="f.bin", media_type="application/octet-stream")
    return a2a.Part(file=a2a.FilePart(file_with_bytes=content, name="f.bin", mime_type="application/octet-stream"))


def error_of(call):
    """Decodes the error of a call, or returns None."""
    try:
        result = call()
        if hasattr(result, "__next__"):
            for _ in result:
                pass
        return None
    except grpc.RpcError as error:
        decoded = {"code": error.code().name, "message": error.details(), "details": []}
        for key, value in error.trailing_metadata() or ():
            if key != "grpc-status-details-bin":
                continue
            status = status_pb2.Status.FromString(value)
            decoded["statusCode"] = status.code
            decoded["statusMessage"] = status.message
            for detail in status.details:
                for known in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest):
                    if detail.Is(known.DESCRIPTOR):
                        unpacked = known()
                        detail.Unpack(unpacked)
                        decoded["details"].append(to_json(unpacked))
        return decoded


def subscribe(stub, task_id):
    if version == "1.0":
        return stub.SubscribeToTask(a2a.SubscribeToTaskRequest(id=task_id), timeout=LIMIT)
    return stub.TaskSubscription(a2a.TaskSubscriptionRequest(name=f"tasks/{task_id}"), timeout=LIMIT)


def push_configs_1_0(stub, task_id):
    key = {"task_id": task_id, "id": "p"}
    authentication = a2a.AuthenticationInfo(scheme="Bearer", credentials="c")
    created = stub.CreateTaskPushNotificationConfig(
        a2a.TaskPushNotificationConfig(url=WEBHOOK, token="t", authentication=authentication, **key), timeout=LIMIT
    )
    read = stub.GetTaskPushNotificationConfig(a2a.GetTaskPushNotificationConfigRequest(**key), timeout=LIMIT)
    every = a2a.ListTaskPushNotificationConfigsRequest(task_id=task_id)
    listed = stub.ListTaskPushNotificationConfigs(every, timeout=LIMIT)
    stub.DeleteTaskPushNotificationConfig(a2a.DeleteTaskPushNotificationConfigRequest(**key), timeout=LIMIT)
    return created, read, listed, stub.ListTaskPushNotificationConfigs(every, timeout=LIMIT)


def push_configs_0_3(stub, task_id):
    parent = f"tasks/{task_id}"
    name = f"{parent}/pushNotificationConfigs/p"
    authentication = a2a.AuthenticationInfo(schemes=["Bearer"], credentials="c")
    config = a2a.PushNotificationConfig(id="p", url=WEBHOOK, token="t", authentication=authentication)
    created = stub.CreateTaskPushNotificationConfig(
        a2a.CreateTaskPushNotificationConfigRequest(
            parent=parent,
            config_id="p",
            config=a2a.TaskPushNotificationConfig(name=name, push_notification_config=config),
        ),
        timeout=LIMIT,
    )
    read = stub.GetTaskPushNotificationConfig(a2a.GetTaskPushNotificationConfigRequest(name=name), timeout=LIMIT)
    every = a2a.ListTaskPushNotificationConfigRequest(parent=parent)
    listed = stub.ListTaskPushNotificationConfig(every, timeout=LIMIT)
    stub.DeleteTaskPushNotificationConfig(a2a.DeleteTaskPushNotificationConfigRequest(name=name), timeout=LIMIT)
    return created, read, listed, stub.ListTaskPushNotificationConfig(every, timeout=LIMIT)


def running_task(stub):
    """A task that works until it is canceled, with two streams of its events."""
    sender = stub.SendStreamingMessage(send_request("slow"), timeout=LIMIT)
    first = next(sender)
    task_id = first.task.id
    subscriber = subscribe(stub, task_id)
    snapshot = next(subscriber)
    push = (push_configs_1_0 if version == "1.0" else push_configs_0_3)(stub, task_id)
    canceled = stub.CancelTask(task_request(a2a.CancelTaskRequest, task_id), timeout=LIMIT)
    return {
        "snapshot": to_json(snapshot),
        "push": [to_json(each) for each in push],
        "canceled": to_json(canceled),
        "sender": [to_json(each) for each in sender],
        "subscriber": [to_json(each) for each in subscriber],
    }


def reflection(channel):
    """Asks the server for its services and for the fields of its service's file."""
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    service = a2a.DESCRIPTOR.services_by_name["A2AService"].full_name
    requests = (
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=service),
    )
    listed, described = stub.ServerReflectionInfo(iter(requests), timeout=LIMIT)
    ours = descriptor_pb2.FileDescriptorProto()
    a2a.DESCRIPTOR.CopyToProto(ours)
    served = {}
    for content in described.file_descriptor_response.file_descriptor_proto:
        file = descriptor_pb2.FileDescriptorProto.FromString(content)
        if file.package == ours.package:
            served.update(shape(file))
    expected = shape(ours)
    return {
        "services": sorted(each.name for each in listed.list_services_response.service),
        "missing": sorted(name for name in expected if served.get(name) != expected[name]),
        "additional": sorted(name for name in served if name not in expected),
    }


def shape(file):
    """The numbers and types of fields, the methods and the values of enumerations of a file, by name."""
    names = {}
    for message in file.message_type:
        for field in message.field:
            names[f"{message.name}.{field.name}"] = (field.number, field.type, field.label, field.type_name)
    for each in file.enum_type:
        for value in each.value:
            names[f"{each.name}.{value.name}"] = value.number
    for service in file.service:
        for method in service.method:
            names[f"{service.name}/{method.name}"] = (method.input_type, method.output_type, method.server_streaming)
    return names


def main():
    with grpc.insecure_channel(address) as channel, grpc.insecure_channel(protected_address) as protected:
        stub = services.A2AServiceStub(channel)
        sent = stub.SendMessage(send_request("Grüße 🌍"), timeout=LIMIT)
        content = bytes(index % 251 for index in range(300_000))
        file = stub.SendMessage(send_request("", file_part(content)), timeout=LIMIT, compression=grpc.Compression.Gzip)
        part = file.task.artifacts[0].parts[0]
        get = task_request(a2a.GetTaskRequest, sent.task.id)
        unknown = task_request(a2a.GetTaskRequest, "nothing")
        cancel = task_request(a2a.CancelTaskRequest, sent.task.id)
        secret = services.A2AServiceStub(protected)
        authorized = secret.SendMessage(
            send_request("hello"), timeout=LIMIT, metadata=(("authorization", f"Bearer {token}"),)
        )
        result = {
            "send": to_json(sent),
            "fileIsSame": (part.raw if version == "1.0" else part.file.file_with_bytes) == content,
            "stream": [to_json(each) for each in stub.SendStreamingMessage(send_request("stream"), timeout=LIMIT)],
            "get": to_json(stub.GetTask(get, timeout=LIMIT)),
            "running": running_task(stub),
            "notFound": error_of(lambda: stub.GetTask(unknown, timeout=LIMIT)),
            "notCancelable": error_of(lambda: stub.CancelTask(cancel, timeout=LIMIT)),
            "noSubscription": error_of(lambda: subscribe(stub, "nothing")),
            "invalid": error_of(lambda: stub.SendMessage(a2a.SendMessageRequest(), timeout=LIMIT)),
            "deadline": error_of(lambda: stub.SendMessage(send_request("slow"), timeout=0.5)),
            "streamDeadline": error_of(lambda: stub.SendStreamingMessage(send_request("slow"), timeout=0.5)),
            "unauthenticated": error_of(lambda: secret.SendMessage(send_request("hello"), timeout=LIMIT)),
            "authorized": to_json(authorized),
            "health": to_json(
                health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=LIMIT)
            ),
            "reflection": reflection(channel),
        }
        if version == "1.0":
            listing = a2a.ListTasksRequest(page_size=2, history_length=0, status=a2a.TASK_STATE_COMPLETED)
            first_page = stub.ListTasks(listing, timeout=LIMIT)
            listing.page_token = first_page.next_page_token
            result["list"] = [to_json(first_page), to_json(stub.ListTasks(listing, timeout=LIMIT))]
            card = stub.GetExtendedAgentCard(a2a.GetExtendedAgentCardRequest(), timeout=LIMIT)
        else:
            card = stub.GetAgentCard(a2a.GetAgentCardRequest(), timeout=LIMIT)
        result["card"] = to_json(card)
    print(json.dumps(result))


main()
