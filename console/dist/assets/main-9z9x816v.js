import{b}from"/console/assets/main-eczpay02.js";import{e}from"/console/assets/main-5s9t7b4c.js";function ct({text:t}){return t===null?e(v,{}):e(b,{text:t})}function v(){return e("span",{className:"text-muted","aria-label":"none",children:"–"})}function ue({text:t}){return e("code",{className:"font-mono text-xs select-all",children:t})}
export{ct,v,ue};
