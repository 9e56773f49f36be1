export default { render: renderPart };
