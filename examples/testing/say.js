// Creates a send request from a text; `more` overrides members of the message.
export const say = (text, more = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});
