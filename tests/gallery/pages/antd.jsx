import { createRoot } from 'react-dom/client';
import { Button, Checkbox, DatePicker, Form, Input, InputNumber, Modal, Radio, Select, Switch } from 'antd';

function Page() {
  const [form] = Form.useForm();
  const done = (values) => { window.sent = { ...values, due: values.due?.format('YYYY-MM-DD') ?? null }; };
  const ask = () => Modal.confirm({ title: 'Delete all drafts?', okText: 'Delete', onOk: () => { window.deleted = true; }, onCancel: () => { window.kept = true; } });
  return (
    <div style={{ maxWidth: 480, padding: 16 }}>
      <Form form={form} layout="vertical" onFinish={done} onFinishFailed={() => { window.failed = true; }}>
        <Form.Item name="title" label="Title" rules={[{ required: true }]}><Input /></Form.Item>
        <Form.Item name="project" label="Project">
          <Select showSearch options={['Apollo', 'Borealis', 'Cassini', 'Dawn'].map((value) => ({ value, label: value }))} />
        </Form.Item>
        <Form.Item name="labels" label="Labels">
          <Select mode="multiple" options={['bug', 'idea', 'chore', 'docs'].map((value) => ({ value, label: value }))} />
        </Form.Item>
        <Form.Item name="due" label="Due date"><DatePicker /></Form.Item>
        <Form.Item name="points" label="Points"><InputNumber min={0} max={20} /></Form.Item>
        <Form.Item name="private" label="Private" valuePropName="checked"><Switch /></Form.Item>
        <Form.Item name="kind" label="Kind"><Radio.Group options={['Story', 'Task']} /></Form.Item>
        <Form.Item name="agreed" valuePropName="checked"><Checkbox>I have read the rules</Checkbox></Form.Item>
        <Button htmlType="submit" type="primary">Create</Button> <Button danger onClick={ask}>Delete drafts</Button>
      </Form>
    </div>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
