/** How the versions and interfaces of an agent are found. */
export interface DiscoveryOptions {
  /**
   * Sends a message to the agent if its card does not say which version it speaks, or where its interfaces or streams are.
   * If false, discovery starts no task.
   *
   * @defaultValue true
   */
  readonly probesByMessage?: boolean;
}
