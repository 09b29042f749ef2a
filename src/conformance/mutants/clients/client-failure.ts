/** Ends an operation of the reference client with an error message. */
export class ClientFailureError extends Error {}

/** The connection was refused, so that another interface may be tried. */
export class ConnectionFailureError extends ClientFailureError {}

/** The client ends as if a signal had ended its process. */
export class ClientCrashError extends Error {}
