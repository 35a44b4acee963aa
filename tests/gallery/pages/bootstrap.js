import * as bootstrap from 'bootstrap';
import 'bootstrap/dist/css/bootstrap.css';

document.getElementById('root').innerHTML = `
<nav class="navbar navbar-expand bg-light px-3"><div class="dropdown">
  <button class="btn btn-secondary dropdown-toggle" data-bs-toggle="dropdown">Account</button>
  <ul class="dropdown-menu"><li><a class="dropdown-item" href="#profile">Profile</a></li><li><a class="dropdown-item" href="#billing">Billing</a></li></ul>
</div></nav>
<main class="container p-3">
  <button class="btn btn-primary" data-bs-toggle="modal" data-bs-target="#invite">Invite</button>
  <div class="accordion my-3" id="faq"><div class="accordion-item">
    <h2 class="accordion-header"><button class="accordion-button collapsed" data-bs-toggle="collapse" data-bs-target="#a1">Advanced</button></h2>
    <div id="a1" class="accordion-collapse collapse"><div class="accordion-body">
      <div class="form-check form-switch"><input class="form-check-input" type="checkbox" role="switch" id="beta"><label class="form-check-label" for="beta">Beta features</label></div>
    </div></div></div></div>
  <ul class="nav nav-tabs"><li class="nav-item"><button class="nav-link active" data-bs-toggle="tab" data-bs-target="#t1">Open</button></li>
    <li class="nav-item"><button class="nav-link" data-bs-toggle="tab" data-bs-target="#t2">Closed</button></li></ul>
  <div class="tab-content"><div class="tab-pane active" id="t1">Two tickets</div>
    <div class="tab-pane" id="t2"><button class="btn btn-link" id="reopen">Reopen ticket 7</button></div></div>
</main>
<div class="modal fade" id="invite" tabindex="-1"><div class="modal-dialog"><div class="modal-content"><form id="form">
  <div class="modal-header"><h5 class="modal-title">Invite somebody</h5><button type="button" class="btn-close" data-bs-dismiss="modal" aria-label="Close"></button></div>
  <div class="modal-body">
    <div class="form-floating mb-3"><input type="email" class="form-control" id="mail" placeholder="x" required><label for="mail">Email address</label></div>
    <select class="form-select" aria-label="Role"><option value="">Role …</option><option value="r">Reader</option><option value="e">Editor</option></select>
  </div><div class="modal-footer"><button class="btn btn-primary">Send invitation</button></div>
</form></div></div></div>`;
document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault();
  window.sent = { mail: document.getElementById('mail').value, role: document.querySelector('#invite select').value };
  bootstrap.Modal.getInstance('#invite').hide();
});
document.getElementById('reopen').addEventListener('click', () => { window.reopened = true; });
