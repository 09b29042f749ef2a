/** The part of the `fetch` function that is used. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;
