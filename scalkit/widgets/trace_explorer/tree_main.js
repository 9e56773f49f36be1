export default { render: renderTree };
