import flatpickr from 'flatpickr';
import 'flatpickr/dist/flatpickr.css';

document.getElementById('root').innerHTML = `<div style="padding:16px">
  <label for="day">Delivery day</label> <input id="day"> <label for="stay">Stay</label> <input id="stay" readonly>
  <p id="chosen"></p></div>`;
flatpickr('#day', { defaultDate: '2027-03-10', onChange: ([day]) => { window.day = flatpickr.formatDate(day, 'Y-m-d'); } });
flatpickr('#stay', { mode: 'range', defaultDate: ['2027-05-01', '2027-05-02'], onChange: (days) => { window.stay = days.map((day) => flatpickr.formatDate(day, 'Y-m-d')); } });
