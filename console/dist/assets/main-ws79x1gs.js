import{e}from"/console/assets/main-y2evt8c3.js";var a={good:"bg-good-wash text-good",bad:"bg-bad-wash text-bad",warn:"bg-warn-wash text-warn",plain:"bg-sunken text-soft"};function P({look:o,children:t}){return e("span",{className:`inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium ${a[o]}`,children:t})}
export{P};
