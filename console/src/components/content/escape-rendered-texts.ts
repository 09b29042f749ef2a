import { options, type VNode } from 'preact';
import { escapeInvisible } from './escape-invisible.ts';

/** Attributes whose text is displayed or read aloud. Values of fields stay as they are, because the user edits them. */
const shownAttributes = ['title', 'aria-label', 'aria-description', 'alt'] as const;

/**
 * Escapes the invisible characters of every text that the page renders, so that no view can forget it: names, titles and
 * messages come from peers.
 */
export function escapeRenderedTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    escapeTexts(vnode);
    before?.(vnode);
  };
}

/** A node of Preact: a text, an element or a component. */
type RenderedNode = Omit<VNode, 'type' | 'props'> & { type: unknown; props: unknown };

function escapeTexts(node: RenderedNode): void {
  // A node without a type is a text.
  if (node.type === null) {
    if (typeof node.props === 'string') node.props = escapeInvisible(node.props);
    return;
  }
  if (typeof node.type !== 'string') return;
  const props = node.props as Record<string, unknown>;
  for (const name of shownAttributes) {
    const text = props[name];
    if (typeof text !== 'string') continue;
    const escaped = escapeInvisible(text);
    if (escaped !== text) node.props = { ...(node.props as object), [name]: escaped };
  }
}
