import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import Select from 'react-select';
import Creatable from 'react-select/creatable';

const options = ['Ash', 'Beech', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Larch', 'Maple', 'Oak', 'Pine'].map((label) => ({ label, value: label.toLowerCase() }));

function Page() {
  const [one, setOne] = useState(null);
  const [many, setMany] = useState([{ label: 'Elm', value: 'elm' }]);
  const [own, setOwn] = useState(null);
  window.state = { one: one?.value ?? null, many: many.map((each) => each.value), own: own?.label ?? null };
  return (
    <div style={{ maxWidth: 400, padding: 16, display: 'grid', gap: 16 }}>
      <label htmlFor="one">Tree</label><Select inputId="one" options={options} value={one} onChange={setOne} isClearable />
      <label htmlFor="many">Hedge</label><Select inputId="many" options={options} value={many} onChange={setMany} isMulti />
      <label htmlFor="own">Shrub</label><Creatable inputId="own" options={options} value={own} onChange={setOwn} />
    </div>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
