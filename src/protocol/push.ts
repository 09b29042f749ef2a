/** How the sender of a push notification proves itself to the receiver. */
export interface PushAuthentication {
  /** An HTTP authentication scheme, such as `Bearer`. */
  scheme: string;
  credentials?: string;
}

/** Where to send the news of a task. */
export interface PushConfig {
  /** The task it belongs to; empty or absent while it travels inside a send. */
  taskId: string;
  /** Unique within the task. */
  id: string;
  url: string;
  /** Given back in `X-A2A-Notification-Token`. */
  token?: string;
  authentication?: PushAuthentication;
  /** The protocol version that registered it, which the notifications are written in. Never on the wire. */
  version?: string;
}
