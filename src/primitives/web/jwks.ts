/** A JSON Web Key Set (RFC 7517) of public keys. */
export interface JsonWebKeySet {
  readonly keys: readonly { readonly [member: string]: unknown }[];
}
