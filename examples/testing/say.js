// A message with one text, and whatever else it needs.
export const say = (text, more = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});
