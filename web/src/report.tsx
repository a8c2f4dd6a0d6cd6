import { render } from 'preact';
render(<p>soon</p>, document.getElementById('app') as HTMLElement);
