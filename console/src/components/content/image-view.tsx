import { useEffect, useState } from 'preact/hooks';
import './content.css';

/** An image that came as bytes. Nothing is fetched, and a drawing in an `img` runs no script. */
export function ImageView({
  bytes,
  mediaType,
  name,
}: {
  bytes: Uint8Array;
  mediaType: string;
  name: string;
}) {
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mediaType }));
    setUrl(made);
    setBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mediaType]);
  if (isBroken) return <div class="content-note">This image cannot be shown.</div>;
  if (url === undefined) return null;
  return (
    <div class="content-image">
      <img src={url} alt={name} onError={() => setBroken(true)} />
    </div>
  );
}
