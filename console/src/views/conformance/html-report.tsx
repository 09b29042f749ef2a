import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { fetchReport } from './state.ts';

/** The HTML report in a sandboxed frame. */
export function HtmlReport({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('');
  useEffect(() => {
    let made = '';
    void fetchReport('html').then(
      async (file) => {
        made = URL.createObjectURL(new Blob([await file.text()], { type: 'text/html' }));
        setUrl(made);
      },
      () => onClose(),
    );
    return () => URL.revokeObjectURL(made);
  }, []);
  return (
    <div class="conformance-reading">
      <div class="conformance-reading-bar">
        <Button onClick={onClose}>Back to results</Button>
      </div>
      {url === '' ? null : <iframe title="Report" src={url} sandbox="allow-scripts" />}
    </div>
  );
}
