// npx vitest run --root examples/testing
export default { test: { include: ['*.test.js'] } };
