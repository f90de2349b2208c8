// The page begins: what the address holds is shown, and every control answers.

wireExplorer();
wireListing();
wireBands();
wireContents();
begin(() => {
  setBands();
  update();
}, drawBands);
