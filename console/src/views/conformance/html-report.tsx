import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';

/** The HTML report in a sandboxed frame. */
export function HtmlReport({ html, onClose }: { html: string; onClose: () => void }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [html]);
  return (
    <div class="conformance-reading">
      <div class="conformance-reading-bar">
        <Button onClick={onClose}>Back to results</Button>
      </div>
      {url === '' ? null : <iframe title="Report" src={url} sandbox="allow-scripts" />}
    </div>
  );
}
