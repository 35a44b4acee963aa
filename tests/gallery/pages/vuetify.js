import { createApp } from 'vue';
import { createVuetify } from 'vuetify';
import * as components from 'vuetify/components';
import * as directives from 'vuetify/directives';
import 'vuetify/styles';

const app = createApp({
  data: () => ({ name: '', fruit: null, many: [], agreed: false, level: 'low', sent: null, dialog: false }),
  methods: { send() { window.sent = JSON.parse(JSON.stringify({ name: this.name, fruit: this.fruit, many: this.many, agreed: this.agreed, level: this.level })); this.dialog = false; } },
  template: `<v-app><v-container style="max-width:480px">
    <v-text-field v-model="name" label="Full name"></v-text-field>
    <v-select v-model="fruit" label="Fruit" :items="['Apple', 'Banana', 'Cherry']"></v-select>
    <v-autocomplete v-model="many" multiple chips label="Toppings" :items="['Almonds', 'Berries', 'Cocoa', 'Dates']"></v-autocomplete>
    <v-radio-group v-model="level" label="Sweetness"><v-radio label="Low" value="low"></v-radio><v-radio label="High" value="high"></v-radio></v-radio-group>
    <v-switch v-model="agreed" label="Terms accepted"></v-switch>
    <v-btn @click="dialog = true">Order</v-btn>
    <v-dialog v-model="dialog" max-width="320"><v-card title="Really order?"><v-card-actions><v-btn @click="dialog = false">Back</v-btn><v-btn @click="send">Yes, order</v-btn></v-card-actions></v-card></v-dialog>
  </v-container></v-app>`,
});
app.use(createVuetify({ components, directives })).mount('#root');
