import { useEffect, useState } from 'preact/hooks';
import './content.css';

/** An image from bytes. Nothing is fetched; an SVG in an `img` element cannot run scripts. */
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
  if (isBroken) return <div class="content-note">This image cannot be displayed.</div>;
  if (url === undefined) return null;
  return (
    <div class="content-image">
      <img src={url} alt={name} onError={() => setBroken(true)} />
    </div>
  );
}
