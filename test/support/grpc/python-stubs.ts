/** Stubs of grpcio for Python, made from the files of the specification. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureSystemPackage, findSystemProgram } from '../process/system-program.ts';

const python = '/usr/bin/python3';
const spec =
  process.env['DRAGOMAN_SPEC'] ?? fileURLToPath(new URL('../../../../shared/protocol/spec', import.meta.url));
/** Debian's folder with Google's own types. */
const include = '/usr/include';
const systemProtos = '/usr/share/grpc-proto/grpc';

/** Files of protocol buffers by their name in the folder of the stubs. */
const sources = {
  'a2a_1_0.proto': join(spec, 'a2a-v1.0.1.proto'),
  'a2a_0_3.proto': join(spec, 'a2a-v0.3-maintenance-2025-09-02.proto'),
  'grpc_health/health.proto': join(systemProtos, 'health/v1/health.proto'),
  'grpc_reflection/reflection.proto': join(systemProtos, 'reflection/v1/reflection.proto'),
};

/** What the files of the specification import, and what a status contains. Debian does not have these files. */
const imported = {
  'google/api/http.proto': `package google.api;
    message HttpRule {
      string selector = 1;
      oneof pattern { string get = 2; string put = 3; string post = 4; string delete = 5; string patch = 6; }
      string body = 7;
      repeated HttpRule additional_bindings = 11;
    }`,
  'google/api/annotations.proto': `package google.api;
    import "google/api/http.proto";
    import "google/protobuf/descriptor.proto";
    extend google.protobuf.MethodOptions { HttpRule http = 72295728; }`,
  'google/api/client.proto': `package google.api;
    import "google/protobuf/descriptor.proto";
    extend google.protobuf.MethodOptions { repeated string method_signature = 1051; }`,
  'google/api/field_behavior.proto': `package google.api;
    import "google/protobuf/descriptor.proto";
    enum FieldBehavior { FIELD_BEHAVIOR_UNSPECIFIED = 0; OPTIONAL = 1; REQUIRED = 2; }
    extend google.protobuf.FieldOptions { repeated FieldBehavior field_behavior = 1052; }`,
  'google/rpc/status.proto': `package google.rpc;
    import "google/protobuf/any.proto";
    message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }`,
  'google/rpc/error_details.proto': `package google.rpc;
    message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
    message BadRequest {
      message FieldViolation { string field = 1; string description = 2; }
      repeated FieldViolation field_violations = 1;
    }`,
};

/** Python with stubs of A2A. */
export interface PythonGrpc {
  readonly python: string;
  /** Temporary folder with the modules. */
  readonly folder: string;
}

/** Makes the stubs in a temporary folder. @returns the reason if a part is missing. */
export function makePythonStubs(): PythonGrpc | string {
  if (!existsSync(sources['a2a_1_0.proto'])) return 'the .proto files of the specification are not present';
  const hasModules = (): boolean =>
    spawnSync(python, ['-c', 'import grpc, google.protobuf'], { stdio: 'ignore' }).status === 0;
  if (!ensureSystemPackage('python3-grpcio', hasModules)) return 'python3-grpcio is not installed';
  const protoc = findSystemProgram('protoc', 'protobuf-compiler');
  const plugin = findSystemProgram('grpc_python_plugin', 'protobuf-compiler-grpc');
  if (protoc === undefined || plugin === undefined) return 'protoc or grpc_python_plugin is not installed';
  const hasTypes = (): boolean => existsSync(join(include, 'google/protobuf/struct.proto'));
  if (!ensureSystemPackage('libprotobuf-dev', hasTypes)) return 'libprotobuf-dev is not installed';
  if (!ensureSystemPackage('grpc-proto', () => existsSync(systemProtos)))
    return 'grpc-proto is not installed';

  const folder = mkdtempSync(join(tmpdir(), 'dragoman-python-'));
  const place = (name: string): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    return join(folder, name);
  };
  for (const [name, source] of Object.entries(sources)) cpSync(source, place(name));
  for (const [name, text] of Object.entries(imported))
    writeFileSync(place(name), `syntax = "proto3";\n${text}\n`);
  const names = [...Object.keys(sources), ...Object.keys(imported)];
  const inputs = [`--proto_path=${folder}`, `--proto_path=${include}`, ...names];
  const outputs = [`--python_out=${folder}`, `--grpc_python_out=${folder}`];
  const args = [`--plugin=protoc-gen-grpc_python=${plugin}`, ...outputs, ...inputs];
  const { status, stderr } = spawnSync(protoc, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`protoc failed: ${stderr}`);
  return { python, folder };
}
