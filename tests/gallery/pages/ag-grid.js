import { AllCommunityModule, createGrid, ModuleRegistry } from 'ag-grid-community';

ModuleRegistry.registerModules([AllCommunityModule]);
const box = document.getElementById('root');
box.style.height = '400px';
const rows = Array.from({ length: 500 }, (_, at) => ({ id: at + 1, item: `Item ${at + 1}`, stock: (at * 37) % 101 }));
window.grid = createGrid(box, {
  columnDefs: [{ field: 'id', width: 90 }, { field: 'item', filter: true }, { field: 'stock', editable: true, sortable: true }],
  rowData: rows, rowSelection: { mode: 'multiRow' },
});
window.stock = (id) => rows.find((row) => row.id === id).stock;
window.selected = () => window.grid.getSelectedRows().map((row) => row.id);
