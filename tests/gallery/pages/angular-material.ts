import '@angular/compiler';
import 'zone.js';
import { Component } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { FormsModule } from '@angular/forms';
import { MatFormFieldModule } from '@angular/material/form-field';
import { MatInputModule } from '@angular/material/input';
import { MatSelectModule } from '@angular/material/select';
import { MatCheckboxModule } from '@angular/material/checkbox';
import { MatRadioModule } from '@angular/material/radio';
import { MatSlideToggleModule } from '@angular/material/slide-toggle';
import { MatAutocompleteModule } from '@angular/material/autocomplete';
import { MatDatepickerModule } from '@angular/material/datepicker';
import { provideNativeDateAdapter } from '@angular/material/core';
import { MatButtonModule } from '@angular/material/button';
import 'material-theme';

@Component({
  selector: 'gallery-page',
  imports: [FormsModule, MatFormFieldModule, MatInputModule, MatSelectModule, MatCheckboxModule, MatRadioModule, MatSlideToggleModule, MatAutocompleteModule, MatDatepickerModule, MatButtonModule],
  providers: [provideNativeDateAdapter()],
  template: `<form (ngSubmit)="send()" style="display:grid;gap:8px;max-width:420px;padding:16px">
    <mat-form-field><mat-label>First name</mat-label><input matInput name="first" [(ngModel)]="first"></mat-form-field>
    <mat-form-field><mat-label>State</mat-label><mat-select name="state" [(ngModel)]="state">
      @for (each of states; track each) {<mat-option [value]="each">{{ each }}</mat-option>}</mat-select></mat-form-field>
    <mat-form-field><mat-label>Street</mat-label><input matInput name="street" [(ngModel)]="street" [matAutocomplete]="auto">
      <mat-autocomplete #auto="matAutocomplete">@for (each of matching(); track each) {<mat-option [value]="each">{{ each }}</mat-option>}</mat-autocomplete></mat-form-field>
    <mat-form-field><mat-label>Birthday</mat-label><input matInput name="day" [(ngModel)]="day" [matDatepicker]="picker">
      <mat-datepicker-toggle matIconSuffix [for]="picker"></mat-datepicker-toggle><mat-datepicker #picker></mat-datepicker></mat-form-field>
    <mat-radio-group aria-label="Contact" name="by" [(ngModel)]="by"><mat-radio-button value="mail">By mail</mat-radio-button><mat-radio-button value="phone">By phone</mat-radio-button></mat-radio-group>
    <mat-checkbox name="terms" [(ngModel)]="terms">Terms</mat-checkbox>
    <mat-slide-toggle name="dark" [(ngModel)]="dark">Dark mode</mat-slide-toggle>
    <button mat-flat-button>Register</button></form>`,
})
class Page {
  first = ''; state = ''; street = ''; by = ''; terms = false; dark = false; day: Date | null = null;
  states = ['Bavaria', 'Hesse', 'Saxony'];
  streets = ['Ash Lane', 'Birch Road', 'Birch Street', 'Cherry Way'];
  matching() { return this.streets.filter((each) => each.toLowerCase().includes(this.street.toLowerCase())); }
  send() {
    const day = this.day && [this.day.getFullYear(), this.day.getMonth() + 1, this.day.getDate()].join('-');
    (window as any).sent = { first: this.first, state: this.state, street: this.street, by: this.by, terms: this.terms, dark: this.dark, day };
  }
}

document.getElementById('root')!.innerHTML = '<gallery-page></gallery-page>';
bootstrapApplication(Page).catch((error) => { document.title = `failed: ${error}`; });
