import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import {
  Autocomplete, Button, Checkbox, FormControlLabel, InputLabel, MenuItem, Radio, RadioGroup, Select, FormControl, Slider, Switch,
  TextField,
} from '@mui/material';
import { LocalizationProvider, DatePicker } from '@mui/x-date-pickers';
import { AdapterDayjs } from '@mui/x-date-pickers/AdapterDayjs';

const CITIES = ['Aachen', 'Bergen', 'Cádiz', 'Delft', 'Évora', 'Ferrara', 'Ghent', 'Hamar', 'Ioannina', 'Jena'];

function Page() {
  const [state, set] = useState({ city: null, size: '', news: false, wifi: false, room: '', guests: 2, name: '', date: null });
  const put = (key) => (value) => set((now) => ({ ...now, [key]: value }));
  const sent = (event) => { event.preventDefault(); window.sent = { ...state, date: state.date?.format('YYYY-MM-DD') ?? null }; };
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <form onSubmit={sent} style={{ display: 'grid', gap: 16, maxWidth: 420, padding: 16 }}>
        <TextField label="Name" value={state.name} onChange={(event) => put('name')(event.target.value)} />
        <Autocomplete options={CITIES} value={state.city} onChange={(_, city) => put('city')(city)}
          renderInput={(input) => <TextField {...input} label="City" />} />
        <FormControl>
          <InputLabel id="size">Room size</InputLabel>
          <Select labelId="size" label="Room size" value={state.size} onChange={(event) => put('size')(event.target.value)}>
            <MenuItem value="s">Small</MenuItem><MenuItem value="m">Medium</MenuItem><MenuItem value="l">Large</MenuItem>
          </Select>
        </FormControl>
        <FormControlLabel label="Newsletter" control={<Checkbox checked={state.news} onChange={(event) => put('news')(event.target.checked)} />} />
        <FormControlLabel label="Wi-Fi" control={<Switch checked={state.wifi} onChange={(event) => put('wifi')(event.target.checked)} />} />
        <RadioGroup aria-label="Bed" value={state.room} onChange={(event) => put('room')(event.target.value)}>
          <FormControlLabel value="twin" control={<Radio />} label="Twin beds" />
          <FormControlLabel value="double" control={<Radio />} label="Double bed" />
        </RadioGroup>
        <Slider aria-label="Guests" min={1} max={8} value={state.guests} onChange={(_, value) => put('guests')(value)} />
        <DatePicker label="Arrival" value={state.date} onChange={put('date')} />
        <Button type="submit" variant="contained">Book</Button>
      </form>
    </LocalizationProvider>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
