/** Credentials that the sender of push notifications presents to the webhook. */
export interface PushAuthentication {
  /** An HTTP authentication scheme, such as `Bearer`. */
  scheme: string;
  credentials?: string;
}

/** Registration of a webhook for the events of a task. */
export interface PushConfig {
  /** Empty while the configuration is part of a send request. */
  taskId: string;
  /** Unique within the task. */
  id: string;
  url: string;
  /** Sent to the webhook in `X-A2A-Notification-Token`. */
  token?: string;
  authentication?: PushAuthentication;
  /** Protocol version of the registration and of the notifications. Never on the wire. */
  version?: string;
}
