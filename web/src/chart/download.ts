// Files made in the page.

export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const svgBlob = (svg: string): Blob => new Blob([svg], { type: 'image/svg+xml' });

// Twice as fine as on a plain screen.
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser cannot draw pictures');
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)), 'image/png'));
}

// Of a drawn figure beside its SVG.
export function pngButton(name: string, svg: () => Promise<string>): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'PNG';
  button.addEventListener('click', () => {
    svg().then(pngOf).then((png) => download(`${name}.png`, png), (error: Error) => {
      button.textContent = `no PNG: ${error.message}`;
    });
  });
  return button;
}
