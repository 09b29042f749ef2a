import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';

/** The report as its own page, in a frame that can reach nothing. */
export function HtmlReport({ html, onClose }: { html: string; onClose: () => void }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [html]);
  return (
    <div class="exam-reading">
      <div class="exam-reading-bar">
        <Button onClick={onClose}>Back to the results</Button>
      </div>
      {url === '' ? null : <iframe title="Report" src={url} sandbox="allow-scripts" />}
    </div>
  );
}
